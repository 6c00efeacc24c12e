package dev.parley.task;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/// An agent that writes some text and waits until the test lets it continue.
final class GatedAgent implements Agent {

  private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    var prompt = taskRun.created().prompt();
    var block = taskRun.sources().blockId();
    taskRun.emit(List.of(new ContentDelta("half ", 0, block), new ContentDelta("of it", 1, block)));
    gate(prompt).await();
    taskRun.emit(
        List.of(new ContentComplete("half of it", block, FinishReason.STOP, null, null, null)));
    return new TaskOutcome.Completed("half of it");
  }

  /// Lets the task with this prompt continue.
  void open(String prompt) {
    gate(prompt).countDown();
  }

  private CountDownLatch gate(String prompt) {
    return gates.computeIfAbsent(prompt, _ -> new CountDownLatch(1));
  }
}
