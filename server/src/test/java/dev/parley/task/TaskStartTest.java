package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.TaskState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TaskStartTest {

  @TempDir Path folder;

  /// The threads that have read entries.
  private final Set<Thread> readers = ConcurrentHashMap.newKeySet();

  private final MemoryLog stored = TaskTestBed.newLog();

  private final EventLog log =
      (EventLog)
          Proxy.newProxyInstance(
              EventLog.class.getClassLoader(),
              new Class<?>[] {EventLog.class},
              (_, method, arguments) -> {
                if (method.getName().equals("read")) {
                  readers.add(Thread.currentThread());
                }
                try {
                  return method.invoke(stored, arguments);
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                }
              });

  @Test
  void a_new_task_starts_without_reading_the_log() throws Exception {
    var read = new AtomicBoolean();
    Agent agent =
        _ -> {
          read.set(readers.contains(Thread.currentThread()));
          return new TaskOutcome.Completed("done");
        };
    try (var taskTestBed = TaskTestBed.with(log, agent, folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("greet").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(read.get()).isFalse();
    }
  }
}
