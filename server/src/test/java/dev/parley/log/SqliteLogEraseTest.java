package dev.parley.log;

import static dev.parley.log.EventLogContract.BLOCK;
import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.TASK;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.delta;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.taskCreated;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The deletion of contexts: its cost, its effect on other work, and that it is always finished.
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SqliteLogEraseTest {

  private static final ContextId OTHER = new ContextId("other");
  private static final String SECRET = "a-very-secret-sentence";
  private static final Executor THREADS = Executors.newVirtualThreadPerTaskExecutor();

  private final Random random = new Random(1);

  @TempDir Path folder;

  private BlockLog open(LogTuning logTuning) {
    return SqliteLog.open(TestLogs.in(folder, logTuning));
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
  }

  /// Opens a reader of another process, which reads the file until it is closed.
  private Connection reader() throws SQLException {
    var reader = connect();
    reader.setAutoCommit(false);
    reader.createStatement().executeQuery("SELECT * FROM contexts").next();
    return reader;
  }

  private static void appendMessage(EventLog log, ContextId context, String text) {
    log.append(context, AppendGuard.none(), Decision.always(message(text)));
  }

  /// Text that hardly compresses.
  private String noise(int bytes) {
    var noise = new byte[bytes];
    random.nextBytes(noise);
    return Base64.getEncoder().encodeToString(noise);
  }

  private void fill(EventLog log, ContextId context, int kilobytes) {
    log.create(context, created());
    for (var i = 0; i < kilobytes; i += 24) {
      var noise = new Message(new MessageId("m-" + i), Role.USER, noise(24 << 10), null, null);
      log.append(context, AppendGuard.none(), Decision.always(EventDraft.of(noise)));
    }
  }

  private static CompletableFuture<Void> delete(EventLog log, ContextId context) {
    return CompletableFuture.runAsync(() -> log.delete(context), THREADS);
  }

  /// Waits until a deletion has started to erase, and appends a few times, so that the eraser runs
  /// between commits.
  private static void awaitGone(EventLog log, ContextId context) {
    while (true) {
      try {
        log.head(context);
        appendMessage(log, OTHER, "tick");
      } catch (Rejection.Gone gone) {
        break;
      }
    }
    for (var i = 0; i < 5; i++) {
      appendMessage(log, OTHER, "tock");
    }
  }

  private long walBytes() throws IOException {
    return Files.size(folder.resolve("log.db-wal"));
  }

  private void assertNoSecret() throws IOException {
    for (var name : List.of("log.db", "log.db-wal")) {
      assertThat(Files.readString(folder.resolve(name), StandardCharsets.ISO_8859_1))
          .as(name)
          .doesNotContain(SECRET);
    }
  }

  private long count(String what) throws SQLException {
    try (var connection = connect();
        var rows = connection.createStatement().executeQuery("SELECT count(*) FROM " + what)) {
      return rows.next() ? rows.getLong(1) : -1;
    }
  }

  @Test
  void a_deletion_costs_what_it_removes_and_not_what_was_removed_before()
      throws SQLException, IOException {
    var small = new ContextId("small");
    try (var log = open(LogTuning.DEFAULT)) {
      log.create(OTHER, created());
      fill(log, CONTEXT, 6_000);
      log.delete(CONTEXT);
      log.create(small, created());
      var erased = log.metrics().erasedBytes();
      try (var reader = reader()) {
        assertThat(reader.isClosed()).isFalse();
        appendMessage(log, OTHER, "the-log-is-not-empty");
        var before = walBytes();
        var deletion = delete(log, small);
        awaitGone(log, small);
        // The reader blocks the truncation of the write-ahead log, which contains all that was
        // written.
        assertThat(walBytes() - before).isLessThan(1 << 20);
        assertThat(deletion).isNotDone();
      }
      assertThatThrownBy(() -> log.delete(new ContextId("nobody")))
          .isInstanceOf(Rejection.NotFound.class);
      assertThat(log.metrics().erasedBytes() - erased).isLessThan(4_096);
    }
  }

  @Test
  void who_deletes_again_waits_until_no_byte_is_left() throws SQLException, IOException {
    try (var log = open(SqliteLogTest.SMALL)) {
      log.create(OTHER, created());
      log.create(CONTEXT, created());
      appendMessage(log, CONTEXT, SECRET);
      CompletableFuture<Void> first;
      CompletableFuture<Void> second;
      try (var reader = reader()) {
        assertThat(reader.isClosed()).isFalse();
        first = delete(log, CONTEXT);
        awaitGone(log, CONTEXT);
        second = delete(log, CONTEXT);
        for (var i = 0; i < 5; i++) {
          appendMessage(log, OTHER, "appends-go-on");
        }
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
      }
      first.join();
      second.join();
      assertNoSecret();
      assertThatThrownBy(() -> log.delete(CONTEXT)).isInstanceOf(Rejection.Gone.class);
    }
  }

  @Test
  void deletions_share_the_emptying_of_the_write_ahead_log() throws SQLException {
    try (var log = open(SqliteLogTest.SMALL)) {
      log.create(OTHER, created());
      var contexts = new ArrayList<ContextId>();
      for (var i = 0; i < 20; i++) {
        contexts.add(new ContextId("c" + i));
        log.create(contexts.getLast(), created());
      }
      var deletions = new ArrayList<CompletableFuture<Void>>();
      try (var reader = reader()) {
        assertThat(reader.isClosed()).isFalse();
        contexts.forEach(context -> deletions.add(delete(log, context)));
        contexts.forEach(context -> awaitGone(log, context));
      }
      deletions.forEach(CompletableFuture::join);
      assertThat(log.metrics().truncations()).isBetween(1L, 10L);
    }
  }

  @Test
  void a_deletion_that_a_stop_cut_short_is_finished_after_the_next_start()
      throws SQLException, IOException {
    var reader = stopWhileDeleting();
    assertThat(Files.readString(folder.resolve("log.db-wal"), StandardCharsets.ISO_8859_1))
        .contains(SECRET);
    try (var log = open(LogTuning.DEFAULT)) {
      reader.close();
      awaitErased(log);
      assertNoSecret();
      assertThat(count("erasures")).isZero();
      assertThat(count("segments WHERE context = 2")).isZero();
      assertThat(count("keys")).isZero();
      assertThatThrownBy(() -> log.head(CONTEXT)).isInstanceOf(Rejection.Gone.class);
    }
  }

  /// Stops the log while it deletes a context. Returns the reader that blocked the deletion.
  private Connection stopWhileDeleting() throws SQLException {
    Connection reader;
    CompletableFuture<Void> deletion;
    try (var log = open(LogTuning.DEFAULT)) {
      log.create(OTHER, created());
      fill(log, CONTEXT, 3_000);
      log.append(
          CONTEXT,
          new AppendGuard.IdempotencyKey("local", "key", "hash"),
          Decision.always(message(SECRET)));
      reader = reader();
      deletion = delete(log, CONTEXT);
      while (true) {
        try {
          log.head(CONTEXT);
        } catch (Rejection.Gone begun) {
          break;
        }
      }
    }
    assertThatThrownBy(deletion::join).hasCauseInstanceOf(Rejection.Unavailable.class);
    return reader;
  }

  private static void awaitErased(EventLog log) {
    try {
      log.delete(CONTEXT);
    } catch (Rejection.Gone alreadyFinished) {
      assertThat(alreadyFinished).hasMessageContaining(CONTEXT.value());
    }
  }

  @Test
  void deletions_are_finished_while_readers_of_the_past_never_pause() {
    try (var log = open(SqliteLogTest.SMALL)) {
      log.create(OTHER, created());
      for (var i = 0; i < 400; i++) {
        appendMessage(log, OTHER, "m" + i);
      }
      var contexts = new ArrayList<ContextId>();
      for (var i = 0; i < 20; i++) {
        contexts.add(new ContextId("c" + i));
        log.create(contexts.getLast(), created());
      }
      var done = new AtomicBoolean();
      var readers = new ArrayList<CompletableFuture<Void>>();
      for (var i = 0; i < 4; i++) {
        readers.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!done.get()) {
                    assertThat(log.read(OTHER, Position.START, 300)).hasSize(300);
                  }
                },
                THREADS));
      }
      contexts.stream()
          .map(context -> delete(log, context))
          .toList()
          .forEach(CompletableFuture::join);
      done.set(true);
      readers.forEach(CompletableFuture::join);
    }
  }

  @Test
  void a_segment_that_cannot_be_read_stops_a_deletion_and_nothing_else() throws SQLException {
    var fork = new ContextId("fork");
    try (var log = open(SqliteLogTest.SMALL)) {
      log.create(OTHER, created());
      log.create(CONTEXT, created());
      for (var i = 0; i < 12; i++) {
        appendMessage(log, CONTEXT, "m" + i);
      }
      log.fork(fork, new ContextForked(CONTEXT, 3, null, null));
    }
    try (var connection = connect();
        var statement = connection.createStatement()) {
      statement.execute("UPDATE segments SET data = x'01ff01020304'");
    }
    try (var log = open(SqliteLogTest.SMALL)) {
      assertThatThrownBy(() -> log.delete(CONTEXT)).isInstanceOf(Rejection.Unavailable.class);
      appendMessage(log, OTHER, "appends-go-on");
      assertThatThrownBy(() -> log.delete(CONTEXT)).isInstanceOf(Rejection.Unavailable.class);
      var further = new ContextId("further");
      log.create(further, created());
      log.delete(further);
      assertThat(log.writable()).isTrue();
    }
  }

  @Test
  void a_context_that_is_deleted_while_its_text_is_read_is_gone_and_nothing_worse() {
    // Pages of two events, so that the text is read in hundreds of them.
    var logTuning = new LogTuning(2, 4_096, 5, 2_000, 8_000, 2, 64 << 10);
    var contexts = List.of(new ContextId("c1"), new ContextId("c2"), new ContextId("c3"));
    try (var log = open(logTuning)) {
      contexts.forEach(context -> writeBlock(log, context));
    }
    try (var log = open(logTuning)) {
      for (var context : contexts) {
        var beforeLast = Position.of(log.head(context).seq() - 1);
        var readOnce = new CompletableFuture<Void>();
        var reading =
            CompletableFuture.runAsync(
                () -> {
                  while (true) {
                    assertThat(log.read(context, beforeLast, 1)).hasSize(1);
                    readOnce.complete(null);
                  }
                },
                THREADS);
        readOnce.join();
        log.delete(context);
        assertThatThrownBy(reading::join).hasCauseInstanceOf(Rejection.Gone.class);
      }
    }
  }

  /// A block of 600 events, whose end is stored without the text.
  private static void writeBlock(EventLog log, ContextId context) {
    log.create(context, created());
    log.append(context, AppendGuard.none(), Decision.always(taskCreated()));
    for (var i = 0; i < 600; i += 50) {
      var drafts = new ArrayList<EventDraft>();
      for (var k = 0; k < 50; k++) {
        drafts.add(delta(i + k, "x"));
      }
      log.append(context, AppendGuard.none(), Decision.always(drafts.toArray(EventDraft[]::new)));
    }
    var end = new ContentComplete("x".repeat(600), BLOCK, null, null, null, null);
    log.append(context, AppendGuard.none(), Decision.always(new EventDraft(TASK, end)));
  }

  @Test
  void free_pages_that_an_earlier_version_left_are_overwritten_after_the_start()
      throws SQLException, IOException {
    try (var log = open(SqliteLogTest.SMALL)) {
      log.create(OTHER, created());
    }
    try (var connection = connect();
        var statement = connection.createStatement()) {
      statement.execute("PRAGMA secure_delete = OFF");
      statement.execute("CREATE TABLE blocks_of_old (data BLOB)");
      for (var i = 0; i < 40; i++) {
        statement.execute(
            "INSERT INTO blocks_of_old VALUES ('" + (SECRET + i + ' ').repeat(1_000) + "')");
      }
      statement.execute("DROP TABLE blocks_of_old");
      statement.execute("INSERT INTO erasures VALUES (0)");
    }
    assertThat(Files.readString(folder.resolve("log.db"), StandardCharsets.ISO_8859_1))
        .contains(SECRET);
    try (var log = open(SqliteLogTest.SMALL)) {
      while (count("erasures") > 0) {
        appendMessage(log, OTHER, "appends-go-on");
      }
      assertNoSecret();
      assertThat(count("sqlite_master WHERE name = 'zeros'")).isZero();
    }
    try (var connection = connect();
        var rows = connection.createStatement().executeQuery("PRAGMA integrity_check")) {
      assertThat(rows.next()).isTrue();
      assertThat(rows.getString(1)).isEqualTo("ok");
    }
  }
}
