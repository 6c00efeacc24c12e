package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tests the failure of a thread of the log when even logging fails.
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class SqliteLogFatalTest {

  /// Kept in a field, because a logger without references loses its handlers.
  private static final Logger LOGGER = Logger.getLogger("dev.parley.log");

  @TempDir Path folder;

  private final Handler broken =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          throw new OutOfMemoryError("no memory for a line");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void breakLogging() {
    LOGGER.addHandler(broken);
  }

  @AfterEach
  void repairLogging() {
    LOGGER.removeHandler(broken);
  }

  private BlockLog open(FaultInjector faultInjector, FatalHandler fatal) {
    return FaultyStore.open(TestLogs.in(folder, SqliteLogTest.SMALL), faultInjector, fatal);
  }

  /// Throws an OutOfMemoryError on request.
  private static final class OutOfMemoryFault implements FaultInjector {
    volatile boolean now;

    @Override
    public void beforeCommit() {
      if (now) {
        throw new OutOfMemoryError("no memory for a commit");
      }
    }
  }

  @Test
  void when_the_writer_fails_the_append_is_refused_and_the_handler_called() {
    var fault = new OutOfMemoryFault();
    var failure = new CompletableFuture<String>();
    try (var log = open(fault, (thread, cause) -> failure.complete(thread + ": " + cause))) {
      log.create(CONTEXT, created());
      fault.now = true;
      assertThatThrownBy(
              () -> log.append(CONTEXT, AppendGuard.none(), Decision.always(message("lost"))))
          .isInstanceOf(Rejection.Unavailable.class);
      assertThat(failure.join()).startsWith("parley-log-writer: java.lang.OutOfMemoryError");
      assertThat(log.writable()).isFalse();
      assertThatThrownBy(
              () -> log.append(CONTEXT, AppendGuard.none(), Decision.always(message("late"))))
          .isInstanceOf(Rejection.Unavailable.class);
      assertThatThrownBy(() -> log.delete(CONTEXT)).isInstanceOf(Rejection.Unavailable.class);
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(1);
    }
    try (var log = open(FaultInjector.NONE, FatalHandler.NONE)) {
      assertThat(log.read(CONTEXT, Position.START, 10))
          .extracting(Entry::event)
          .containsExactly(created());
    }
  }

  @Test
  void the_handler_may_close_the_log() {
    var fault = new OutOfMemoryFault();
    var closed = new CompletableFuture<Boolean>();
    var opened = new CompletableFuture<BlockLog>();
    var log =
        open(
            fault,
            (_, _) -> {
              opened.join().close();
              closed.complete(true);
            });
    opened.complete(log);
    log.create(CONTEXT, created());
    fault.now = true;
    assertThatThrownBy(
            () -> log.append(CONTEXT, AppendGuard.none(), Decision.always(message("lost"))))
        .isInstanceOf(Rejection.Unavailable.class);
    assertThat(closed.join()).isTrue();
    open(FaultInjector.NONE, FatalHandler.NONE).close();
  }

  @Test
  void when_another_part_of_the_server_fails_nothing_more_is_taken() {
    var failure = new CompletableFuture<String>();
    try (var log = open(FaultInjector.NONE, (thread, _) -> failure.complete(thread))) {
      log.create(CONTEXT, created());
      log.fail("views", new StackOverflowError());
      assertThat(failure.join()).isEqualTo("views");
      assertThat(log.writable()).isFalse();
      assertThatThrownBy(
              () -> log.append(CONTEXT, AppendGuard.none(), Decision.always(message("late"))))
          .isInstanceOf(Rejection.Unavailable.class);
    }
  }
}
