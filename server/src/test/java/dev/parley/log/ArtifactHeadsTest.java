package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.TASK;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.taskCreated;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Artifact heads, which the log stores beside the entries.
final class ArtifactHeadsTest {

  private static final int ARTIFACTS = 1_000;

  @TempDir Path folder;
  private BlockLog log;

  @BeforeEach
  void open() {
    log = SqliteLogTest.open(folder);
  }

  private void restart() {
    log.close();
    open();
  }

  private Connection database() throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
  }

  private long number(String sql) throws SQLException {
    try (var connection = database()) {
      return Jdbc.number(connection, sql);
    }
  }

  private static ArtifactId artifact(int number) {
    return new ArtifactId("a" + number);
  }

  private static EventDraft write(int number) {
    return new EventDraft(
        TASK, new DataWrite(artifact(number), null, null, Json.object(), null, null));
  }

  private void append(EventDraft... drafts) {
    log.append(CONTEXT, AppendGuard.none(), Decision.always(drafts));
  }

  /// Writes many artifacts, then seals all of them.
  private void writeMany() {
    log.create(CONTEXT, created());
    append(taskCreated());
    var batch = new ArrayList<EventDraft>();
    for (var i = 0; i < ARTIFACTS; i++) {
      batch.add(write(i));
      if (batch.size() == 50) {
        append(batch.toArray(EventDraft[]::new));
        batch.clear();
      }
    }
    seal("first");
  }

  private void seal(String name) {
    for (var i = 0; i < 6; i++) {
      append(message(name + i));
    }
  }

  private int version(ContextId context, int number) {
    return log.inspect(context, state -> state.nextVersion(artifact(number)));
  }

  @Test
  void a_seal_writes_only_the_heads_that_have_changed() throws SQLException {
    writeMany();
    assertThat(number("SELECT length(state) FROM contexts")).isLessThan(1_024);
    append(write(7));
    seal("second");
    restart();
    assertThat(version(CONTEXT, 7)).isEqualTo(3);
    for (var i : new int[] {0, 6, 8, ARTIFACTS - 1}) {
      assertThat(version(CONTEXT, i)).isEqualTo(2);
    }
    assertThat(version(CONTEXT, ARTIFACTS)).isEqualTo(1);
    log.close();
  }

  @Test
  void a_rewind_changes_the_stored_heads() {
    writeMany();
    append(new EventDraft(TASK, new TaskStatus(TaskState.CANCELED, null, null)));
    var back = Json.object().put("a3", 0);
    append(EventDraft.of(new ContextRewound(2, null, null, null, back)));
    seal("after");
    restart();
    assertThat(version(CONTEXT, 3)).isEqualTo(2);
    var gone = log.inspect(CONTEXT, state -> state.artifact(artifact(3)));
    assertThat(gone).isEmpty();
    var kept = log.inspect(CONTEXT, state -> state.artifact(artifact(4)));
    assertThat(kept).isPresent();
    log.close();
  }

  @Test
  void a_fork_has_the_heads_of_its_source_and_goes_on_from_them() {
    writeMany();
    var fork = new ContextId("fork");
    log.fork(fork, new ContextForked(CONTEXT, log.head(CONTEXT).seq(), null, null));
    restart();
    assertThat(version(fork, ARTIFACTS - 1)).isEqualTo(2);
    for (var i = 0; i < 7; i++) {
      log.append(fork, AppendGuard.none(), Decision.always(message("m" + i)));
    }
    restart();
    assertThat(version(fork, 0)).isEqualTo(2);
    log.close();
  }

  @Test
  void deleting_a_context_deletes_its_heads() throws SQLException {
    writeMany();
    assertThat(number("SELECT count(*) FROM artifact_heads")).isPositive();
    log.delete(CONTEXT);
    assertThat(number("SELECT count(*) FROM artifact_heads")).isZero();
    log.close();
  }

  @Test
  void a_log_whose_states_hold_the_heads_opens_and_keeps_them() throws SQLException {
    writeMany();
    var old = log.inspect(CONTEXT, state -> SavedState.save(state, 1));
    log.close();
    try (var connection = database();
        var update = connection.prepareStatement("UPDATE contexts SET state = ?")) {
      // The form of version 2 of the schema.
      update.setBytes(1, old);
      update.executeUpdate();
      Jdbc.execute(connection, "DELETE FROM artifact_heads");
    }
    open();
    assertThat(version(CONTEXT, 5)).isEqualTo(2);
    append(write(5));
    seal("new");
    assertThat(number("SELECT length(state) FROM contexts")).isLessThan(1_024);
    restart();
    assertThat(version(CONTEXT, 5)).isEqualTo(3);
    assertThat(version(CONTEXT, ARTIFACTS - 1)).isEqualTo(2);
    log.close();
  }
}
