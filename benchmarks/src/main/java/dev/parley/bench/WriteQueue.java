package dev.parley.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/// Passes writes of many threads to one writer thread, and wakes each caller when its write is
/// done.
///
/// It uses the same queue and the same way of waiting as Parley's log, so that only the writing
/// differs.
final class WriteQueue<T> implements AutoCloseable {

  /// Makes writes durable.
  interface Sink<T> {
    void write(List<T> batch);
  }

  private static final class PendingWrite<T> {
    final T write;
    final Thread thread = Thread.currentThread();
    volatile boolean done;

    PendingWrite(T write) {
      this.write = write;
    }
  }

  private final LinkedBlockingQueue<PendingWrite<T>> queue = new LinkedBlockingQueue<>();
  private final int batchMax;
  private final Sink<T> sink;
  private final Thread writer;

  /// Passes all waiting writes to `sink`, at most `batchMax` at a time.
  WriteQueue(int batchMax, Sink<T> sink) {
    this.batchMax = batchMax;
    this.sink = sink;
    this.writer = Thread.ofPlatform().name("bench-writer").start(this::run);
  }

  void write(T write) {
    var pendingWrite = new PendingWrite<>(write);
    queue.add(pendingWrite);
    while (!pendingWrite.done) {
      LockSupport.park(this);
    }
  }

  private void run() {
    var batch = new ArrayList<PendingWrite<T>>();
    try {
      while (true) {
        batch.add(queue.take());
        queue.drainTo(batch, batchMax - 1);
        sink.write(batch.stream().map(pendingWrite -> pendingWrite.write).toList());
        for (var pendingWrite : batch) {
          pendingWrite.done = true;
          LockSupport.unpark(pendingWrite.thread);
        }
        batch.clear();
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    writer.interrupt();
    try {
      writer.join();
    } catch (InterruptedException later) {
      Thread.currentThread().interrupt();
    }
  }
}
