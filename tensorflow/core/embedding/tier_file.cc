#include "tensorflow/core/embedding/tier_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace deeprec {
namespace embedding {
namespace {

constexpr char kSuffix[] = ".emb";

[[noreturn]] void Throw(const std::string& what, const std::string& path) {
  throw StorageError::OfErrno(what + " " + path, errno);
}

// Of the host, as letters and digits: folders on network storage hold the files of several, whose locks may not be seen.
std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  std::string host;
  for (const char* c = name; *c != 0; ++c) {
    if (isalnum(static_cast<unsigned char>(*c))) host += *c;
  }
  return host.empty() ? "host" : host;
}

// The files there are, for the end of the process. Never destroyed: files may outlive static objects.
class LiveFiles {
 public:
  static LiveFiles& Get() {
    static LiveFiles* const files = [] {
      auto* const made = new LiveFiles;
      atexit([] { Get().RemoveAll(); });
      return made;
    }();
    return *files;
  }
  void Add(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mu_);
    paths_[path] = getpid();
  }
  void Remove(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mu_);
    paths_.erase(path);
  }

 private:
  void RemoveAll() {
    const std::lock_guard<std::mutex> lock(mu_);
    // A forked child that exits must leave the parent's files alone.
    for (const auto& [path, process] : paths_) {
      if (process == getpid()) unlink(path.c_str());
    }
  }

  std::mutex mu_;
  std::map<std::string, pid_t> paths_;
};

std::string NewName(const std::string& prefix) {
  static std::atomic<int64_t> number(0);
  return prefix + "_" + std::to_string(int64_t(time(nullptr))) + "_" + HostName() + "_" + std::to_string(getpid()) + "_" +
         std::to_string(number++) + kSuffix;
}

// Of <prefix>_<time>_<host>_<process>_<number>.emb with this host, whatever the prefix.
bool IsNameOfThisHost(const std::string& name) {
  std::string rest = name;
  if (rest.size() < sizeof(kSuffix) || rest.compare(rest.size() - 4, 4, kSuffix) != 0) return false;
  rest.resize(rest.size() - 4);
  std::vector<std::string> parts;  // from the end: number, process, host, time
  while (parts.size() < 4) {
    const size_t at = rest.rfind('_');
    if (at == rest.npos) return false;
    parts.push_back(rest.substr(at + 1));
    rest.resize(at);
  }
  for (const int i : {0, 1, 3}) {
    if (parts[i].empty() || parts[i].find_first_not_of("0123456789") != parts[i].npos) return false;
  }
  return parts[2] == HostName() && (rest == "ssd_kv" || rest == "pmem_kv");
}

}  // namespace

StorageError StorageError::OfErrno(const std::string& message, int error) {
  const bool no_space = error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE || error == ENFILE;
  return StorageError(no_space ? Kind::kNoSpace : Kind::kUnavailable, message + ": " + strerror(error));
}

void MakeTierFolder(const std::string& folder) {
  for (size_t at = 1; at <= folder.size(); ++at) {
    if (at != folder.size() && folder[at] != '/') continue;
    const std::string part = folder.substr(0, at);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && access(part.c_str(), F_OK) != 0) {
      Throw("Can not make the storage folder", part);
    }
  }
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) Throw("Can not use the storage folder", folder);
  if (!S_ISDIR(status.st_mode)) {
    errno = ENOTDIR;
    Throw("Can not use the storage folder", folder);
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) Throw("Can not write into the storage folder", folder);
}

void RemoveDeadTierFiles(const std::string& folder) {
  DIR* const dir = opendir(folder.c_str());
  if (dir == nullptr) return;
  while (const dirent* const entry = readdir(dir)) {
    if (!IsNameOfThisHost(entry->d_name)) continue;
    const std::string path = folder + "/" + entry->d_name;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    // Who made a file holds its lock; one that nobody holds is nobody's.
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
    close(fd);
  }
  closedir(dir);
}

TierFile::TierFile(const std::string& folder, const std::string& prefix) {
  while (true) {
    path_ = folder + "/" + NewName(prefix);
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0 && errno == EEXIST) continue;  // of a namesake: another container, or a process of before
    if (fd_ < 0) Throw("Can not make the file", path_);
    // A folder that knows no locks keeps what killed processes leave, as nobody gets one to clean up either.
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
    // Between open and flock somebody may have taken it for a dead one.
    struct stat status;
    if (fstat(fd_, &status) == 0 && status.st_nlink > 0) break;
    close(fd_);
  }
  LiveFiles::Get().Add(path_);
}

TierFile::~TierFile() {
  unlink(path_.c_str());
  LiveFiles::Get().Remove(path_);
  if (map_ != nullptr) munmap(map_, mapped_);
  close(fd_);
}

void TierFile::Write(int64_t offset, const char* data, int64_t bytes) {
  while (bytes > 0) {
    const ssize_t n = pwrite(fd_, data, bytes, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) Throw("Can not write to", path_);
    data += n, offset += n, bytes -= n;
  }
}

void TierFile::Read(int64_t offset, char* data, int64_t bytes) const {
  while (bytes > 0) {
    const ssize_t n = pread(fd_, data, bytes, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) Throw("Can not read from", path_);
    if (n == 0) {
      throw StorageError(StorageError::Kind::kAltered, path_ + " has been cut short: it ends before byte " +
                                                           std::to_string(offset + bytes));
    }
    data += n, offset += n, bytes -= n;
  }
}

char* TierFile::Map(int64_t bytes) {
  // Without blocks of its own a page of the mapping that finds the disk full ends the process.
  if (const int error = posix_fallocate(fd_, 0, bytes); error != 0) {
    throw StorageError::OfErrno("Can not set " + std::to_string(bytes) + " bytes aside for " + path_, error);
  }
  void* const map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) Throw("Can not map", path_);
  map_ = static_cast<char*>(map);
  mapped_ = bytes;
  return map_;
}

}  // namespace embedding
}  // namespace deeprec
