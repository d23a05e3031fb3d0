// SPDX-License-Identifier: LGPL-2.1-or-later
// Every gst-launch-1.0 line of README.md and docs/**/*.md parses: elements, properties, pads and caps exist and link.
//
//   launch-lines ROOT
#include <gst/gst.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr std::string_view command = "gst-launch-1.0 ";

// Lines of code blocks, joined where a backslash ends them.
std::vector<std::string> launch_lines(const fs::path& page) {
  std::vector<std::string> out;
  std::ifstream file(page);
  bool code = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      code = !code;
      continue;
    }
    for (std::string more; code && line.ends_with('\\') && std::getline(file, more);)
      line.replace(line.size() - 1, 1, more);
    const std::size_t at = line.find(command);
    if (code && at != std::string::npos) out.push_back(line.substr(at + command.size()));
  }
  return out;
}

// A bracket outside quotes is a syntax error in a shell.
bool shell_refuses(const std::string& line) {
  char quote = 0;
  for (char c : line) {
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (c == '(' || c == ')')
      return true;
  }
  return quote != 0;
}

// What a shell hands to gst-launch-1.0: options gone, quotes resolved.
std::vector<std::string> words(const std::string& line) {
  int n = 0;
  char** parsed = nullptr;
  if (!g_shell_parse_argv(line.c_str(), &n, &parsed, nullptr)) return {};
  std::vector<std::string> out;
  for (int i = 0; i < n; i++)
    if (parsed[i][0] != '-') out.emplace_back(parsed[i]);
  g_strfreev(parsed);
  return out;
}

// Of ours, unless nvcodec has it.
bool ours(const std::string& element) {
  static const std::vector<std::string> nvcodec = {"cudaupload", "cudadownload", "cudaconvert", "cudascale",
                                                   "cudaconvertscale"};
  return element.starts_with("cuda") && std::find(nvcodec.begin(), nvcodec.end(), element) == nvcodec.end();
}

enum class Outcome { ok, skipped, wrong };

Outcome check(const std::string& line) {
  const std::vector<std::string> args = shell_refuses(line) ? std::vector<std::string>{} : words(line);
  std::vector<const char*> argv;
  for (const std::string& a : args) {
    // Without a feature it means system memory, and frames would leave the GPU there.
    if (a.starts_with("video/x-raw") && a.find('(') != std::string("video/x-raw").size()) {
      std::cout << "  " << a << ": say (ANY), or which memory\n";
      return Outcome::wrong;
    }
    argv.push_back(a.c_str());
  }
  argv.push_back(nullptr);
  if (args.empty()) {
    std::cout << "  the shell would not take it\n";
    return Outcome::wrong;
  }
  const std::unique_ptr<GstParseContext, decltype(&gst_parse_context_free)> context(gst_parse_context_new(),
                                                                                    gst_parse_context_free);
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launchv_full(argv.data(), context.get(), GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (pipeline) gst_object_unref(gst_object_ref_sink(pipeline));
  if (!error) return Outcome::ok;
  const std::unique_ptr<GError, decltype(&g_error_free)> message(error, g_error_free);
  char** missing = gst_parse_context_get_missing_elements(context.get());
  std::string names;
  bool foreign = missing != nullptr;
  for (char** m = missing; m && *m; m++) {
    names += std::string(" ") + *m;
    foreign = foreign && !ours(*m);
  }
  g_strfreev(missing);
  std::cout << "  " << (foreign ? "not installed:" + names : error->message) << '\n';
  return foreign ? Outcome::skipped : Outcome::wrong;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  if (argc != 2) return 2;
  std::vector<fs::path> pages{fs::path(argv[1]) / "README.md"};
  for (const auto& file : fs::recursive_directory_iterator(fs::path(argv[1]) / "docs"))
    if (file.path().extension() == ".md") pages.push_back(file.path());
  int count[3] = {};
  for (const fs::path& page : pages)
    for (const std::string& line : launch_lines(page)) {
      std::cout << fs::relative(page, argv[1]).string() << ": " << line << '\n';
      const Outcome o = check(line);
      if (o != Outcome::ok) std::cout << (o == Outcome::skipped ? "  skipped\n" : "  WRONG\n");
      count[static_cast<int>(o)]++;
    }
  std::cout << count[0] << " lines parse, " << count[1] << " skipped, " << count[2] << " wrong\n";
  return count[0] > 0 && count[2] == 0 ? 0 : 1;
}
