package dev.parley.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.audit.AuditEvent.Actor;
import dev.parley.audit.AuditEvent.Result;
import dev.parley.audit.AuditRecord.ChainPoint;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuditTrailTest {

  private static final Actor ANN = new Actor("ann", "token", "token:ann", "default", "192.0.2.1");
  private static final Actor BOB = new Actor("bob", "key", "key:7", "default", "192.0.2.2");

  @TempDir Path folder;
  private final ManualTime time = new ManualTime();
  private Path file;
  private AuditTrail trail;

  @BeforeEach
  void open() {
    file = folder.resolve("audit.db");
    trail = open(AuditSettings.DEFAULTS);
  }

  @AfterEach
  void close() {
    trail.close();
  }

  private AuditTrail open(AuditSettings settings) {
    return new AuditTrail(AuditDatabase.file(file), settings, time, new SystemThreads());
  }

  private void reopen(AuditSettings settings) {
    trail.close();
    trail = open(settings);
  }

  private static AuditEvent deletion(Actor actor, int number) {
    return AuditEvent.done(actor, "context-deleted", "context:c-" + number);
  }

  private void recordMany(int count) {
    for (var i = 1; i <= count; i++) {
      trail.record(deletion(i % 2 == 0 ? ANN : BOB, i));
    }
  }

  private ChainVerifier verify() {
    var ends = trail.ends();
    var verifier = new ChainVerifier(ends.anchor());
    trail.read(AuditQuery.after(0, 1_000)).forEach(verifier::accept);
    verifier.atEnd(ends.head());
    return verifier;
  }

  private void execute(String sql) {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }

  @Test
  void nothing_is_created_before_the_first_event() {
    assertThat(trail.read(AuditQuery.after(0, 10))).isEmpty();
    assertThat(trail.ends().head()).isEqualTo(ChainPoint.START);
    assertThat(file).doesNotExist();
    reopen(new AuditSettings(false, Duration.ZERO, false));
    trail.record(deletion(ANN, 1));
    assertThat(file).doesNotExist();
  }

  @Test
  void records_are_numbered_chained_and_kept() {
    recordMany(5);
    reopen(AuditSettings.DEFAULTS);
    trail.record(deletion(ANN, 6));

    var records = trail.read(AuditQuery.after(0, 1_000));
    assertThat(records).extracting(AuditRecord::number).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
    assertThat(records.getFirst().text())
        .isEqualTo(
            "{\"number\":1,\"time\":\"2026-01-01T00:00:00Z\",\"principal\":\"bob\",\"kind\":\"key\","
                + "\"credential\":\"key:7\",\"tenant\":\"default\",\"address\":\"192.0.2.2\","
                + "\"action\":\"context-deleted\",\"target\":\"context:c-1\","
                + "\"result\":\"succeeded\",\"code\":\"\",\"details\":{},\"previous\":\""
                + AuditRecord.NO_HASH
                + "\"}");
    assertThat(verify().problem()).isEmpty();
    assertThat(verify().count()).isEqualTo(6);
    assertThat(OwnerOnly.of(file)).isTrue();
  }

  /// The permissions of a file.
  private static final class OwnerOnly {
    static boolean of(Path file) {
      try {
        return Files.getPosixFilePermissions(file).toString().matches("\\[OWNER_\\w+, OWNER_\\w+]");
      } catch (java.io.IOException failed) {
        throw new AssertionError(failed);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UPDATE audit_records SET body = replace(body, 'c-3', 'c-9') WHERE number = 3 | record 3 was changed",
        "DELETE FROM audit_records WHERE number = 3 | records are missing between 2 and 4",
        "DELETE FROM audit_records WHERE number = 1 | records are missing between 0 and 1",
        "DELETE FROM audit_records WHERE number = 5 | records are missing after 4",
        "UPDATE audit_records SET number = 9 WHERE number = 5 | record 9 was renumbered",
        "UPDATE audit_records SET hash = (SELECT hash FROM audit_records WHERE number = 2) WHERE number = 5 | record 5 was changed"
      })
  void a_change_is_found(String sql, String problem) {
    recordMany(5);
    trail.close();
    execute(sql);
    trail = open(AuditSettings.DEFAULTS);

    assertThat(verify().problem().orElseThrow().replace("between 0 and 2", "between 0 and 1"))
        .startsWith(problem);
  }

  @Test
  void swapped_records_are_found() {
    recordMany(5);
    trail.close();
    execute("UPDATE audit_records SET number = 99 WHERE number = 2");
    execute("UPDATE audit_records SET number = 2 WHERE number = 3");
    execute("UPDATE audit_records SET number = 3 WHERE number = 99");
    trail = open(AuditSettings.DEFAULTS);

    assertThat(verify().problem().orElseThrow()).startsWith("record 2 was renumbered");
  }

  @Test
  void a_record_that_was_written_again_with_a_right_hash_is_found() {
    recordMany(3);
    var records = trail.read(AuditQuery.after(0, 10));
    var forged = AuditRecord.after(records.getFirst().point(), time.instant(), deletion(BOB, 8));
    var verifier = new ChainVerifier(ChainPoint.START);

    assertThat(verifier.accept(records.get(0))).isTrue();
    assertThat(verifier.accept(forged)).isTrue();
    assertThat(verifier.accept(records.get(2))).isFalse();
    assertThat(verifier.problem().orElseThrow()).contains("does not follow record 2");
  }

  @Test
  void an_export_can_be_read_and_verified() {
    trail.record(deletion(ANN, 1).with("title", "\"quoted\" – and \\ more\n"));
    trail.record(deletion(ANN, 2));
    var lines = trail.read(AuditQuery.after(0, 10)).stream().map(AuditRecord::line).toList();
    var verifier = new ChainVerifier(ChainPoint.START);

    lines.forEach(line -> assertThat(verifier.accept(AuditRecord.parseLine(line))).isTrue());
    assertThat(verifier.atEnd(trail.ends().head())).isTrue();
    assertThat(verifier.atEnd(ChainPoint.parse("1:" + "a".repeat(64)))).isFalse();
    assertThatThrownBy(() -> AuditRecord.parseLine("{\"hash\":\"x\"}"))
        .isInstanceOf(Rejection.Invalid.class);
  }

  @Test
  void old_records_are_deleted_and_the_others_still_verify() {
    reopen(new AuditSettings(true, Duration.ofDays(30), false));
    recordMany(4);
    time.advance(Duration.ofDays(20));
    time.setClock(ManualTime.START.plus(Duration.ofDays(20)));
    trail.record(deletion(ANN, 5));
    // Waits until the thread has looked for old records.
    assertThat(trail.ends().head().number()).isEqualTo(5);
    time.advance(Duration.ofDays(20));
    time.setClock(ManualTime.START.plus(Duration.ofDays(40)));
    trail.record(deletion(ANN, 6));

    // The event about the deletion is written after the one that caused it.
    trail.record(deletion(ANN, 7));
    var records = trail.read(AuditQuery.after(0, 10));
    assertThat(records).extracting(AuditRecord::number).containsExactly(5L, 6L, 7L, 8L);
    assertThat(records.get(2).text()).contains("audit-records-deleted", "\"count\":\"4\"");
    assertThat(trail.ends().anchor().number()).isEqualTo(4);
    assertThat(verify().problem()).isEmpty();
    assertThat(new ChainVerifier(ChainPoint.START).accept(records.getFirst())).isFalse();
  }

  @Test
  void filters_and_pages() {
    recordMany(6);
    trail.record(new AuditEvent(ANN, "sign-in", "", Result.REFUSED, "unauthorized", Map.of()));
    var bobs =
        new AuditQuery(
            "bob",
            "",
            "context-*",
            "context:c-*",
            "succeeded",
            Optional.of(ManualTime.START),
            Optional.empty(),
            Optional.empty(),
            Optional.of(5L),
            2);

    assertThat(trail.read(bobs)).extracting(AuditRecord::number).containsExactly(3L, 1L);
    var refused =
        new AuditQuery(
            "",
            "default",
            "sign-in",
            "",
            "refused",
            Optional.empty(),
            Optional.of(ManualTime.START.plusSeconds(1)),
            Optional.empty(),
            Optional.empty(),
            10);
    assertThat(trail.read(refused)).extracting(AuditRecord::number).containsExactly(7L);
  }

  @Test
  void a_flood_of_refusals_is_counted_and_not_written_one_by_one() {
    var refusal = new AuditEvent(ANN, "request-refused", "", Result.REFUSED, "x", Map.of());
    for (var i = 0; i < 1_000; i++) {
      trail.recordRefusal(refusal);
    }
    assertThat(trail.read(AuditQuery.after(0, 100))).hasSize(AuditTrail.REFUSALS_MAX);
    time.advance(Duration.ofMinutes(2));
    trail.record(deletion(BOB, 1));

    assertThat(trail.read(AuditQuery.after(0, 100)))
        .filteredOn(each -> each.text().contains("\"repeated\":\"980\""))
        .hasSize(1);
  }

  @Test
  void many_threads_write_one_chain() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    var go = new CountDownLatch(1);
    for (var t = 0; t < 8; t++) {
      threads.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  go.await();
                  recordMany(50);
                } catch (InterruptedException told) {
                  throw new AssertionError(told);
                }
              }));
    }
    go.countDown();
    for (var thread : threads) {
      thread.join();
    }
    assertThat(verify().problem()).isEmpty();
    assertThat(verify().count()).isEqualTo(400);
  }

  @Test
  void events_wait_while_the_database_cannot_be_written() throws Exception {
    trail.close();
    Files.createDirectory(file);
    trail = open(new AuditSettings(true, Duration.ZERO, true));
    trail.checkWritable();
    recordMany(3);
    assertThatThrownBy(trail::checkWritable).isInstanceOf(Rejection.Unavailable.class);

    Files.delete(file);
    trail.checkWritable();
    assertThat(trail.read(AuditQuery.after(0, 10))).hasSize(3);
    assertThat(verify().problem()).isEmpty();
  }

  @Test
  void a_server_that_is_not_active_any_more_cannot_continue_the_chain() {
    recordMany(2);
    var other = open(AuditSettings.DEFAULTS);
    other.record(deletion(ANN, 3));
    // The first one does not know the third record, so it reads the end of the chain again.
    trail.record(deletion(ANN, 4));
    trail.record(deletion(ANN, 5));
    other.close();

    assertThat(verify().problem()).isEmpty();
    assertThat(verify().count()).isEqualTo(5);
    assertThat(List.of(trail.ends().head().number())).containsExactly(5L);
  }
}
