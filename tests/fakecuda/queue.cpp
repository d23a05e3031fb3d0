// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams: a first-in-first-out queue with a thread each, and the NULL stream's implicit ordering.
//
// Operations only ever wait for operations queued before them, so there is no deadlock. Locks are shared and counters
// relaxed wherever possible: the thread sanitizer must not take the fake's own locks for synchronisation of the tested
// code.
#include <array>
#include <thread>

#include "internal.h"

namespace gstcv::fakecuda {

namespace {

// The order in which operations of a NULL stream and of the blocking streams are queued. Queuing on a NULL stream is
// exclusive, on any other shared. A stream's `last_` is written with this and, but for NULL streams, with its own
// mutex.
struct Order {
  std::shared_mutex mutex;
  std::array<StreamPtr, max_devices> null_streams;
  std::vector<std::weak_ptr<Stream>> streams;  // all others that still have a thread
};
Order& order() {
  static auto* o = new Order;
  return *o;
}

std::atomic<long> next_number{0};

// Between one and three times the delay, by a fixed pattern.
std::chrono::microseconds delay_of(long stream, long operation) {
  const long us = controls().delay_us.load(std::memory_order_relaxed);
  const auto hash = static_cast<uint32_t>(stream * 31 + operation) * 2654435761U;
  return std::chrono::microseconds(us * (1 + (hash >> 16) % 3));
}

}  // namespace

void Marker::finish() {
  const std::lock_guard lock(mutex_);
  time_ = std::chrono::steady_clock::now();
  done_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
}

void Marker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return seems_done(); });
}

bool Marker::done() {
  const std::lock_guard lock(mutex_);
  return seems_done();
}

void wait_all(const std::vector<MarkerPtr>& markers) {
  for (const MarkerPtr& marker : markers) marker->wait();
}

StreamPtr Stream::create(int device, unsigned flags, bool legacy) {
  auto stream = std::make_shared<Stream>(device, flags, legacy, next_number++);
  std::thread([stream] { stream->run(); }).detach();
  if (legacy) return stream;
  Order& o = order();
  const std::unique_lock lock(o.mutex);
  std::erase_if(o.streams, [](const auto& known) { return known.expired(); });
  o.streams.push_back(stream);
  return stream;
}

MarkerPtr Stream::push(Operation operation) {
  const std::lock_guard lock(mutex_);
  last_ = operation.done;
  queue_.push_back(std::move(operation));
  changed_.notify_all();
  return last_;
}

MarkerPtr Stream::submit(Operation operation) {
  operation.done = std::make_shared<Marker>(number);
  Order& o = order();
  if (!legacy) {
    const std::shared_lock lock(o.mutex);
    const StreamPtr& null = o.null_streams[device];
    if (blocking() && null && null->last_) operation.after.push_back(null->last_);
    return push(std::move(operation));
  }
  static Counter& null_operations = counter("null_stream");
  null_operations.add();
  const std::unique_lock lock(o.mutex);
  for (const auto& known : o.streams) {
    const StreamPtr other = known.lock();
    if (other && other->device == device && other->blocking() && other->last_) operation.after.push_back(other->last_);
  }
  return push(std::move(operation));
}

std::vector<MarkerPtr> Stream::pending() {
  std::vector<MarkerPtr> markers;
  Order& o = order();
  if (!legacy) {
    const std::shared_lock lock(o.mutex);
    const std::lock_guard own(mutex_);
    if (last_) markers.push_back(last_);
    return markers;
  }
  const std::unique_lock lock(o.mutex);
  if (last_) markers.push_back(last_);
  for (const auto& known : o.streams) {
    const StreamPtr other = known.lock();
    if (other && other->device == device && other->blocking() && other->last_) markers.push_back(other->last_);
  }
  return markers;
}

void Stream::hurry(MarkerPtr missed) {
  const std::lock_guard lock(mutex_);
  missed_ = std::move(missed);
  changed_.notify_all();
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Operation operation = std::move(queue_.front());
    queue_.pop_front();
    if (const auto delay = delay_of(number, started_++); delay.count() > 0) {
      changed_.wait_for(lock, delay, [this] { return missed_ && !missed_->seems_done(); });
    }
    lock.unlock();
    wait_all(operation.after);
    if (operation.work && (operation.even_after_fault || sticky() == cudaSuccess)) operation.work();
    operation.work = nullptr;  // what it holds is gone before anyone sees it complete
    operation.done->finish();
    lock.lock();
  }
}

StreamPtr null_stream(int device) {
  Order& o = order();
  {
    const std::shared_lock lock(o.mutex);
    if (o.null_streams[device]) return o.null_streams[device];
  }
  const std::unique_lock lock(o.mutex);
  if (!o.null_streams[device]) o.null_streams[device] = Stream::create(device, 0, true);
  return o.null_streams[device];
}

std::vector<MarkerPtr> device_pending(int device) {
  std::vector<StreamPtr> all;
  Order& o = order();
  {
    const std::unique_lock lock(o.mutex);
    for (const StreamPtr& null : o.null_streams) all.push_back(null);
    for (const auto& known : o.streams) all.push_back(known.lock());
  }
  std::vector<MarkerPtr> markers;
  for (const StreamPtr& stream : all) {
    if (!stream || (device >= 0 && stream->device != device)) continue;
    const std::vector<MarkerPtr> some = stream->pending();
    markers.insert(markers.end(), some.begin(), some.end());
  }
  return markers;
}

}  // namespace gstcv::fakecuda
