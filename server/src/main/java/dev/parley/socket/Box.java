package dev.parley.socket;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.ToIntFunction;

/// Packets between two threads: bounded in their size, whoever puts more waits.
///
/// The monitor guards everything.
final class Box<T> {

  private final int max;
  private final ToIntFunction<T> scale;
  private final Deque<T> packets = new ArrayDeque<>();
  private int size;
  private boolean closed;

  /// @param scale says how large a packet is
  Box(int max, ToIntFunction<T> scale) {
    this.max = max;
    this.scale = scale;
  }

  /// Adds a packet, and waits until there is room for it. One that is larger than the box has it alone.
  ///
  /// @return false if the box is closed, or if `patience` ran out
  synchronized boolean put(T packet, Duration patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    while (!closed && size > 0 && size + scale.applyAsInt(packet) > max) {
      var left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return urge(packet);
  }

  /// Adds a packet even if there is no room: for the few small ones that keep a connection alive.
  synchronized boolean urge(T packet) {
    if (closed) {
      return false;
    }
    packets.add(packet);
    size += scale.applyAsInt(packet);
    notifyAll();
    return true;
  }

  /// Takes all that there is, and waits for some. Empty if `patience` ran out, or if the box is closed.
  synchronized List<T> takeAll(Duration patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    while (packets.isEmpty() && !closed) {
      var left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return List.of();
      }
      wait(left);
    }
    var all = new ArrayList<>(packets);
    packets.clear();
    size = 0;
    notifyAll();
    return all;
  }

  /// How much is in it.
  synchronized int size() {
    return size;
  }

  synchronized boolean closed() {
    return closed;
  }

  /// Takes no more. What is in it can still be taken.
  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
