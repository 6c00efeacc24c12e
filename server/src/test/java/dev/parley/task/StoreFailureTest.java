package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The store fails while an agent works, for example because a database is restarted.
@Timeout(60)
class StoreFailureTest {

  @TempDir Path folder;

  private final MemoryLog stored = TaskTestBed.newLog(new SystemTime(new SystemThreads()));
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicInteger calls = new AtomicInteger();

  private final EventLog log =
      (EventLog)
          Proxy.newProxyInstance(
              EventLog.class.getClassLoader(),
              new Class<?>[] {EventLog.class},
              (_, method, arguments) -> {
                if (List.of("append", "inspect").contains(method.getName())
                    && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                  throw new Rejection.Unavailable("the database is restarted");
                }
                try {
                  return method.invoke(stored, arguments);
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                }
              });

  /// Writes two deltas; the store fails before the second one of the first call.
  private Agent agent(int failing, boolean resumes) {
    return new Agent() {
      @Override
      public TaskOutcome work(TaskRun taskRun) {
        var call = calls.incrementAndGet();
        var block = taskRun.sources().blockId();
        taskRun.emit(List.of(new ContentDelta("one ", 0, block)));
        if (call == 1) {
          failures.set(failing);
        }
        taskRun.emit(List.of(new ContentDelta("two", 1, block)));
        return new TaskOutcome.Completed("answer " + call);
      }

      @Override
      public boolean resumes() {
        return resumes;
      }
    };
  }

  @Test
  void an_agent_continues_when_the_store_is_available_again() throws Exception {
    try (var taskTestBed = TaskTestBed.with(log, agent(3, true), folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("write").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("answer 2");
      assertThat(taskTestBed.events(task, TaskStatus.class))
          .as("marked, so that it does not count as a crash")
          .anyMatch(status -> status.metadata() != null && status.metadata().has("handedBack"));
    }
  }

  @Test
  void an_agent_that_cannot_continue_fails() throws Exception {
    try (var taskTestBed = TaskTestBed.with(log, agent(1, false), folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("write").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(calls).hasValue(1);
    }
  }

  @Test
  void a_task_can_be_canceled_while_the_store_fails() throws Exception {
    var working = new CountDownLatch(1);
    var down = new CountDownLatch(1);
    var agent =
        new Agent() {
          @Override
          public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
            if (calls.incrementAndGet() == 1) {
              working.countDown();
              down.await();
              throw new Rejection.Unavailable("the database is restarted");
            }
            throw new AssertionError("called again");
          }

          @Override
          public boolean resumes() {
            return true;
          }
        };
    try (var taskTestBed = TaskTestBed.with(log, agent, folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("write").taskId();
      working.await();
      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);
      down.countDown();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
    }
  }
}
