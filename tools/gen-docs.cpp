// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the pages of docs/elements/, docs/gallery.md and the table of elements in README.md from the declarations and
// what scripts/gallery.py made, or checks that the files are what it would write.
//
//   gen-docs [--check] ROOT SOURCE...     SOURCE: module/file.cpp of each element, in the order of all_elements()
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "element-page.hpp"

namespace fs = std::filesystem;
using namespace gstcv;

namespace {

constexpr const char* begin_mark = "<!-- elements -->\n";
constexpr const char* end_mark = "<!-- /elements -->";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Entry {
  const Element* element;
  std::string source;
  [[nodiscard]] std::string module() const { return source.substr(0, source.find('/')); }
};

// One table for each module; links start with `prefix`.
std::string tables(const std::vector<Entry>& entries, const std::string& prefix, const std::string& heading) {
  std::map<std::string, std::string> by_module;
  for (const Entry& e : entries)
    by_module[e.module()] += "| [" + e.element->name + "](" + prefix + e.element->name + ".md) | " +
                             cell(first_sentence(e.element->text)) + " | `" + e.element->opencv + "` | " +
                             backends(*e.element) + " |\n";
  std::string out;
  for (const auto& [module, rows] : by_module)
    out +=
        heading + " " + module + "\n\n| Element | What it does | OpenCV | Runs on |\n|---|---|---|---|\n" + rows + "\n";
  return out;
}

std::string with_table(const std::string& readme, const std::string& table) {
  const std::size_t begin = readme.find(begin_mark), end = readme.find(end_mark);
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    throw std::runtime_error("README.md lacks the lines <!-- elements --> and <!-- /elements -->");
  return readme.substr(0, begin) + begin_mark + "\n" + table + readme.substr(end);
}

// Cells with a picture before and after, or with what was found in it; "" where there are none. Links start with
// `prefix`.
std::string pictures(const fs::path& root, const std::string& name, const std::string& prefix) {
  const fs::path folder = root / "docs/images";
  auto link = [&](const char* when) {
    return std::string("![") + when + "](" + prefix + "images/" + name + "-" + when + ".jpg)";
  };
  if (fs::exists(folder / (name + "-after.jpg"))) return "| " + link("before") + " | " + link("after") + " |";
  const std::string found = read(folder / (name + "-result.txt"));
  return found.empty() ? found : "| " + link("before") + " | " + cell(found.substr(0, found.find('\n'))) + " |";
}

std::string gallery(const fs::path& root, const std::vector<Entry>& entries) {
  std::string rows;
  for (const Entry& e : entries)
    if (const std::string cells = pictures(root, e.element->name, ""); !cells.empty())
      rows += "| [" + e.element->name + "](elements/" + e.element->name + ".md) " + cells + "\n";
  return made_by("docs/images/ and the declarations in gst/") +
         "# Gallery\n\nOf photographs among OpenCV's samples, by the pipelines in "
         "[scripts/gallery.py](../scripts/gallery.py).\n\n| Element | Before | After |\n|---|---|---|\n" +
         rows;
}

std::map<fs::path, std::string> pages(const fs::path& root, const std::vector<Entry>& entries) {
  std::map<fs::path, std::string> out;
  for (const Entry& e : entries)
    out[root / "docs/elements" / (e.element->name + ".md")] =
        element_page(*e.element, e.source, pictures(root, e.element->name, "../"));
  out[root / "docs/gallery.md"] = gallery(root, entries);
  out[root / "docs/elements/README.md"] = made_by("the declarations in gst/") +
                                          "# Elements\n\nBy OpenCV module. How formats, memory, backends and results "
                                          "work in all of them: [guide](../guide.md). What they do to a photograph: "
                                          "[gallery](../gallery.md).\n\n" +
                                          tables(entries, "", "##");
  out[root / "README.md"] = with_table(read(root / "README.md"), tables(entries, "docs/elements/", "###"));
  return out;
}

// Pages of elements that are gone.
std::vector<fs::path> stale(const fs::path& root, const std::map<fs::path, std::string>& wanted) {
  std::vector<fs::path> out;
  if (fs::exists(root / "docs/elements"))
    for (const auto& file : fs::directory_iterator(root / "docs/elements"))
      if (!wanted.contains(file.path())) out.push_back(file.path());
  return out;
}

int check(const fs::path& root, const std::map<fs::path, std::string>& wanted) {
  int wrong = 0;
  for (const auto& [path, text] : wanted)
    if (read(path) != text) {
      std::cerr << fs::relative(path, root).string() << " is not what the declarations give\n";
      wrong++;
    }
  for (const fs::path& path : stale(root, wanted)) {
    std::cerr << fs::relative(path, root).string() << " belongs to no element\n";
    wrong++;
  }
  if (wrong) std::cerr << "run: ninja -C build docs\n";
  std::cout << wanted.size() << " files compared, " << wrong << " wrong\n";
  return wrong ? 1 : 0;
}

void write(const fs::path& root, const std::map<fs::path, std::string>& wanted) {
  fs::create_directories(root / "docs/elements");
  for (const fs::path& path : stale(root, wanted)) fs::remove(path);
  for (const auto& [path, text] : wanted) {
    if (read(path) == text) continue;
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
    std::cout << "wrote " << fs::relative(path, root).string() << '\n';
  }
}

int run(std::vector<std::string> args) {
  const bool checking = !args.empty() && args[0] == "--check";
  if (checking) args.erase(args.begin());
  const auto& elements = all_elements();
  if (args.size() != elements.size() + 1) {
    std::cerr << "usage: gen-docs [--check] ROOT SOURCE...  (one source for each of the " << elements.size()
              << " elements)\n";
    return 2;
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < elements.size(); i++) entries.push_back({elements[i], args[i + 1]});
  const auto wanted = pages(args[0], entries);
  if (checking) return check(args[0], wanted);
  write(args[0], wanted);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Classes are asked directly; nothing of the installed plugins is needed.
  g_setenv("GST_REGISTRY_UPDATE", "no", TRUE);
  gst_init(nullptr, nullptr);
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "gen-docs: " << e.what() << '\n';
    return 1;
  }
}
