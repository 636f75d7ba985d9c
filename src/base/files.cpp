#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/trust.h"

namespace stapgen::base {

namespace {

tl::unexpected<Error> system_error(std::string_view action, const std::filesystem::path& path) {
    const int why = errno;
    const auto what = fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(why));
    if (why == ENOSPC || why == EDQUOT) return cannot_here(what, "make room there");
    return failed(what);
}

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }

  private:
    int fd_;
};

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return system_error("open", path);
    std::string content;
    struct stat status {};
    if (::fstat(file.get(), &status) == 0) {
        content.reserve(std::min<std::size_t>(static_cast<std::size_t>(status.st_size) + 256 * 1024, limit));
    }
    for (;;) {
        const auto old_size = content.size();
        const auto step = std::min<std::size_t>(256 * 1024, limit - old_size);
        content.resize(old_size + step);
        const auto count = ::read(file.get(), content.data() + old_size, step);
        content.resize(old_size + static_cast<std::size_t>(count < 0 ? 0 : count));
        if (count < 0 && errno != EINTR) return system_error("read", path);
        if (count == 0) return content;
    }
}

Result<void> create_file(const std::filesystem::path& path, std::string_view content) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return system_error("create", path);
    while (!content.empty()) {
        const auto count = ::write(file.get(), content.data(), content.size());
        if (count < 0 && errno != EINTR) {
            auto error = system_error("write", path);
            ::unlink(path.c_str());
            return error;
        }
        content.remove_prefix(static_cast<std::size_t>(count < 0 ? 0 : count));
    }
    return {};
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view content) {
    auto temporary = path;
    temporary += fmt::format(".{}.tmp", ::getpid());
    if (auto created = create_file(temporary, content); !created) return created;
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        auto error = system_error("replace", path);
        ::unlink(temporary.c_str());
        return error;
    }
    return {};
}

Result<PrivateDirectory> PrivateDirectory::create() {
    std::error_code error;
    auto folder = std::filesystem::temp_directory_path(error);
    if (::geteuid() == 0 && !only_root_replaces(folder)) folder = "/tmp";
    auto pattern = (folder / "stapgen-XXXXXX").string();
    if (error || ::mkdtemp(pattern.data()) == nullptr) return system_error("make a temporary folder", pattern);
    return PrivateDirectory(pattern);
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
}

PrivateDirectory::~PrivateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

namespace {

std::filesystem::path cache_of_user() {
    if (const char* base = std::getenv("XDG_CACHE_HOME"); base != nullptr && base[0] == '/') {
        return std::filesystem::path(base) / "stapgen";
    }
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home != nullptr && home[0] == '/' ? home : "/root") / ".cache" / "stapgen";
}

}  // namespace

std::filesystem::path cache_directory() {
    auto cache = cache_of_user();
    if (::geteuid() == 0 && !only_root_makes(cache)) cache = "/var/cache/stapgen";
    return cache;
}

void make_cache(const std::filesystem::path& cache) {
    std::error_code ignored;
    std::filesystem::create_directories(cache.parent_path(), ignored);
    ::mkdir(cache.c_str(), S_IRWXU);
}

}  // namespace stapgen::base
