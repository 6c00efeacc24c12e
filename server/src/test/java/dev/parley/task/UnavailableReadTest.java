package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The store is unavailable for a moment while the runtime reads whether a task has begun.
@Timeout(60)
class UnavailableReadTest {

  @TempDir Path folder;

  /// The threads whose next read of the state is rejected.
  private final Set<Thread> rejected = ConcurrentHashMap.newKeySet();

  private final MemoryLog stored = TaskTestBed.newLog();

  private final EventLog log =
      (EventLog)
          Proxy.newProxyInstance(
              EventLog.class.getClassLoader(),
              new Class<?>[] {EventLog.class},
              (_, method, arguments) -> {
                if (method.getName().equals("inspect") && rejected.remove(Thread.currentThread())) {
                  throw new Rejection.Unavailable("the disk is busy");
                }
                try {
                  return method.invoke(stored, arguments);
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                }
              });

  @Test
  void a_task_is_done_although_the_store_was_unavailable() throws Exception {
    var agent =
        new Agent() {
          @Override
          public boolean beginsWithOutput() {
            rejected.add(Thread.currentThread());
            return true;
          }

          @Override
          public TaskOutcome work(TaskRun taskRun) {
            taskRun.emit(List.of());
            rejected.add(Thread.currentThread());
            return new TaskOutcome.Completed("done");
          }
        };
    try (var taskTestBed = TaskTestBed.with(log, agent, folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("greet").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("done");
      LogInvariants.check(stored, TaskTestBed.CONTEXT);
    }
  }
}
