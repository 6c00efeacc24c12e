package dev.parley.socketio;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.ToIntFunction;

/// A blocking queue of packets between two threads, with a limit on their total size.
///
/// The monitor guards everything.
final class PacketQueue<T> {

  private final int max;
  private final ToIntFunction<T> sizeOf;
  private final Time time;
  private final Deque<T> packets = new ArrayDeque<>();
  private int size;
  private boolean closed;

  /// @param sizeOf returns the size of a packet
  PacketQueue(int max, ToIntFunction<T> sizeOf, Time time) {
    this.max = max;
    this.sizeOf = sizeOf;
    this.time = time;
  }

  /// Waits until there is room, and adds a packet. A packet that is larger than the limit waits
  /// until the queue is empty.
  ///
  /// @return false if the queue is closed, or if `patience` ran out
  synchronized boolean put(T packet, Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    while (!closed && size > 0 && size + sizeOf.applyAsInt(packet) > max) {
      if (time.remaining(deadline) <= 0) {
        return false;
      }
      time.waitUntil(this, deadline);
    }
    return putUrgent(packet);
  }

  /// Adds a packet even if there is no room; for the few small packets that keep a connection
  /// alive.
  synchronized boolean putUrgent(T packet) {
    if (closed) {
      return false;
    }
    packets.add(packet);
    size += sizeOf.applyAsInt(packet);
    notifyAll();
    return true;
  }

  /// Waits for packets, and takes all of them. Empty if `patience` ran out, or if the queue is
  /// closed and empty.
  synchronized List<T> takeAll(Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    while (packets.isEmpty() && !closed) {
      if (time.remaining(deadline) <= 0) {
        return List.of();
      }
      time.waitUntil(this, deadline);
    }
    var all = new ArrayList<>(packets);
    packets.clear();
    size = 0;
    notifyAll();
    return all;
  }

  /// The total size of the packets in the queue.
  synchronized int size() {
    return size;
  }

  synchronized boolean closed() {
    return closed;
  }

  /// Accepts no more packets. Those in the queue can still be taken.
  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
