// SPDX-License-Identifier: LGPL-2.1-or-later
// gst-cuda-info: the CUDA devices of this machine, and whether each can run this build of OpenCV.
// It stands for cv::cuda's getCudaEnabledDeviceCount, getDevice, setDevice, resetDevice and printCudaDeviceInfo.
#include <glib.h>

#include <cstdio>
#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#ifdef GSTCV_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

constexpr int EXIT_OTHER = 1, EXIT_USAGE = 2, EXIT_NO_DEVICE = 3;

// Ends the program with this exit code and message.
struct Failure : std::runtime_error {
  Failure(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  int code;
};

// One line of the report: a stable name for JSON, words for people.
struct Field {
  std::string key, label;
  std::variant<std::nullptr_t, bool, long long, std::string> value;
  std::string unit = "";
};
using Fields = std::vector<Field>;

struct Report {
  Fields build;                 // OpenCV, driver and runtime
  std::vector<Fields> devices;  // in order of their index
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += cv::format("\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json(const Fields& fields) {
  std::string out;
  for (const Field& field : fields) {
    out += (out.empty() ? "{" : ", ") + quoted(field.key) + ": ";
    if (const auto* text = std::get_if<std::string>(&field.value)) {
      out += quoted(*text);
    } else if (const auto* number = std::get_if<long long>(&field.value)) {
      out += std::to_string(*number);
    } else if (const auto* flag = std::get_if<bool>(&field.value)) {
      out += *flag ? "true" : "false";
    } else {
      out += "null";
    }
  }
  return out + "}";
}

std::string words(const Field& field) {
  if (const auto* text = std::get_if<std::string>(&field.value)) return text->empty() ? "none" : *text;
  if (const auto* flag = std::get_if<bool>(&field.value)) return *flag ? "yes" : "no";
  const auto* number = std::get_if<long long>(&field.value);
  if (!number) return "unknown";
  if (field.unit == "byte") return cv::format("%.2f GiB", static_cast<double>(*number) / (1 << 30));
  if (field.unit == "kHz") return cv::format("%.0f MHz", static_cast<double>(*number) / 1000);
  return std::to_string(*number);
}

void print(const Fields& fields, const char* indent) {
  for (const Field& field : fields) std::printf("%s%-24s %s\n", indent, field.label.c_str(), words(field).c_str());
}

// JSON always has devices; error is there when something failed.
void print_json(const Report& report, const std::string& error) {
  std::string devices;
  for (const Fields& device : report.devices) devices += (devices.empty() ? "" : ", ") + json(device);
  std::printf("{\"build\": %s, \"devices\": [%s]", json(report.build).c_str(), devices.c_str());
  if (!error.empty()) std::printf(", \"error\": %s", quoted(error).c_str());
  std::printf("}\n");
}

#ifdef GSTCV_HAVE_CUDA
// 13000 -> "13.0"; 0, for no driver, -> "none"
std::string version(int number) { return number ? cv::format("%d.%d", number / 1000, number % 1000 / 10) : "none"; }

int driver_version() {
  int number = 0;
  return cudaDriverGetVersion(&number) == cudaSuccess ? number : 0;
}

int runtime_version() {
  int number = 0;
  return cudaRuntimeGetVersion(&number) == cudaSuccess ? number : 0;
}

// "8.6 9.0": the compute capabilities that `has` knows.
std::string capabilities(bool (*has)(int, int)) {
  std::string out;
  for (int major = 1; major < 20; major++) {
    for (int minor = 0; minor < 10; minor++) {
      if (has(major, minor)) out += cv::format("%s%d.%d", out.empty() ? "" : " ", major, minor);
    }
  }
  return out;
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Failure(EXIT_OTHER, cv::format("%s: %s (%s)", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}

// How many devices can be used; a Failure that tells a missing driver from a missing device when there is none.
int device_count() {
  const int count = cv::cuda::getCudaEnabledDeviceCount();
  if (count > 0) return count;
  cudaGetLastError();
  if (count == 0) {
    throw Failure(EXIT_NO_DEVICE,
                  "an NVIDIA driver is here, but no device that it can use. Look at what `nvidia-smi -L` lists; "
                  "CUDA_VISIBLE_DEVICES may hide devices, and a container must be started with access to them.");
  }
  const int driver = driver_version();
  if (driver == 0) {
    throw Failure(EXIT_NO_DEVICE,
                  "no NVIDIA driver (libcuda.so.1 is missing or does not work). Install the driver of your GPU; in a "
                  "container, start it with the GPU passed in. Elements run on the CPU meanwhile.");
  }
  throw Failure(EXIT_NO_DEVICE, "the NVIDIA driver is too old: it serves CUDA " + version(driver) +
                                    ", this build needs " + version(runtime_version()) + ". Install a newer driver.");
}

long long attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

Fields device_fields(int device) {
  const cv::cuda::DeviceInfo info(device);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  // A device that another process holds exclusively tells all but this.
  std::optional<size_t> free_bytes;
  size_t total_bytes = info.totalGlobalMem(), free_now = 0;
  try {
    info.queryMemory(total_bytes, free_now);
    free_bytes = free_now;
  } catch (const cv::Exception&) {
    cudaGetLastError();
  }
  const std::string capability = cv::format("%d.%d", info.majorVersion(), info.minorVersion());
  const bool runs = info.isCompatible();
  Fields fields = {
      {"index", "device", static_cast<long long>(device)},
      {"name", "name", std::string(properties.name)},
      {"compute_capability", "compute capability", capability},
      {"pci", "PCI address", cv::format("%04x:%02x:%02x", info.pciDomainID(), info.pciBusID(), info.pciDeviceID())},
      {"memory_total", "memory", static_cast<long long>(total_bytes), "byte"},
      {"memory_free", "memory, free", nullptr, "byte"},
      {"multiprocessors", "multiprocessors", static_cast<long long>(info.multiProcessorCount())},
      {"clock_khz", "clock", attribute(cudaDevAttrClockRate, device), "kHz"},
      {"memory_pools", "memory pools", attribute(cudaDevAttrMemoryPoolsSupported, device) != 0},
      {"unified_addressing", "unified addressing", info.unifiedAddressing()},
      {"concurrent_copies", "concurrent copies", static_cast<long long>(info.asyncEngineCount())},
      {"concurrent_kernels", "concurrent kernels", info.concurrentKernels()},
      {"can_run", "runs this build", runs},
  };
  if (free_bytes) fields[5].value = static_cast<long long>(*free_bytes);
  if (!runs) {
    fields.push_back({"remedy", "remedy", "build OpenCV for it: CUDA_ARCH=" + capability + " ./dev setup"});
  }
  return fields;
}

void check_index(int device, int count) {
  if (device >= 0 && device < count) return;
  throw Failure(EXIT_USAGE, cv::format("no device %d: the devices here are 0 to %d", device, count - 1));
}
#endif  // GSTCV_HAVE_CUDA

Fields build_fields() {
  Fields fields = {{"opencv", "OpenCV", cv::getVersionString()}};
#ifdef GSTCV_HAVE_CUDA
  fields.push_back(
      {"opencv_binary_architectures", "OpenCV's GPU code for", capabilities(cv::cuda::TargetArchs::hasBin)});
  fields.push_back({"opencv_ptx_architectures", "OpenCV's PTX for", capabilities(cv::cuda::TargetArchs::hasPtx)});
  fields.push_back({"cuda_runtime", "CUDA runtime", version(runtime_version())});
  fields.push_back({"cuda_driver", "CUDA of the driver", version(driver_version())});
#else
  fields.push_back({"opencv_binary_architectures", "OpenCV's GPU code for", std::string()});
#endif
  return fields;
}

struct Options {
  bool as_json = false;
  std::optional<int> device, reset;
};

constexpr const char* SUMMARY =
    "Lists the CUDA devices of this machine, their properties, the versions of driver and runtime, the architectures\n"
    "that OpenCV was built for, and whether each device can run this build.";

constexpr const char* DESCRIPTION =
    "EXIT STATUS\n"
    "  0  a device was found, and what was asked for was done\n"
    "  1  CUDA failed\n"
    "  2  an option or a device number that does not exist\n"
    "  3  no driver, no device, or a build without CUDA: the message says which, and what to do\n"
    "\n"
    "ENVIRONMENT\n"
    "  CUDA_VISIBLE_DEVICES  hides and reorders devices; numbers here count what it leaves\n"
    "\n"
    "EXAMPLES\n"
    "  gst-cuda-info --device 1\n"
    "  gst-cuda-info --json | python3 -m json.tool\n";

Options parse(int argc, char** argv) {
  gboolean as_json = FALSE;
  int device = G_MININT, reset = G_MININT;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print JSON; memory is in bytes", nullptr},
      {"device", 0, 0, G_OPTION_ARG_INT, &device, "Only this device, after making it the current one as a test", "N"},
      {"reset", 0, 0, G_OPTION_ARG_INT, &reset,
       "Open this device and reset it (cudaDeviceReset): frees what this process holds there, leaves others alone",
       "N"},
      {},
  };
  GOptionContext* context = g_option_context_new(nullptr);
  g_option_context_set_summary(context, SUMMARY);
  g_option_context_set_description(context, DESCRIPTION);
  g_option_context_add_main_entries(context, entries, nullptr);
  GError* error = nullptr;
  std::string message;
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    message = error->message;
    g_error_free(error);
  } else if (argc > 1) {
    message = std::string("no argument '") + argv[1] + "' is known";
  } else if (device != G_MININT && reset != G_MININT) {
    message = "--device and --reset exclude each other";
  }
  g_option_context_free(context);
  if (!message.empty()) throw Failure(EXIT_USAGE, message + "; see gst-cuda-info --help");

  Options options;
  options.as_json = as_json != FALSE;
  if (device != G_MININT) options.device = device;
  if (reset != G_MININT) options.reset = reset;
  return options;
}

// Fills the report as far as it comes, then prints it; a Failure goes on to main.
void run(const Options& options, Report& report) {
  report.build = build_fields();
#ifdef GSTCV_HAVE_CUDA
  const int count = device_count();
  if (const std::optional<int> chosen = options.device ? options.device : options.reset) {
    check_index(*chosen, count);
    cv::cuda::setDevice(*chosen);
    if (cv::cuda::getDevice() != *chosen) throw Failure(EXIT_OTHER, cv::format("device %d was not selected", *chosen));
  }
  if (options.reset) {
    cv::cuda::resetDevice();
    report.build.push_back({"reset_device", "device that was reset", static_cast<long long>(*options.reset)});
  }
  for (int device = 0; device < count; device++) {
    const std::optional<int> only = options.device ? options.device : options.reset;
    if (!only || *only == device) report.devices.push_back(device_fields(device));
  }
#else
  (void)options;
  throw Failure(EXIT_NO_DEVICE,
                "this is a build without CUDA: elements run on the CPU. For the GPU, install the CUDA toolkit and run "
                "GST_OPENCV_CUDA=1 ./dev setup");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Report report;
  std::string error;
  int code = 0;
  try {
    options = parse(argc, argv);
    run(options, report);
  } catch (const Failure& failure) {
    error = failure.what();
    code = failure.code;
  } catch (const std::exception& exception) {
    error = exception.what();
    code = EXIT_OTHER;
  }
  if (options.as_json) {
    print_json(report, error);
  } else {
    print(report.build, "");
    for (const Fields& device : report.devices) {
      std::printf("\n");
      print(device, "");
    }
    std::fflush(stdout);
    if (code) std::fprintf(stderr, "gst-cuda-info: %s\n", error.c_str());
  }
  return code;
}
