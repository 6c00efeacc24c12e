package dev.parley.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.audit.AuditEvent.Actor;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.TestPostgres;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// The audit trail of a cluster.
class SharedAuditTrailTest {

  private static final Actor ANN = new Actor("ann", "token", "token:ann", "default", "192.0.2.1");
  private static final AuditSettings REQUIRED = new AuditSettings(true, Duration.ofDays(30), true);

  private final PostgresDatabase database = TestPostgres.database(TestPostgres.createDatabase());
  private final ManualTime time = new ManualTime();

  private AuditTrail open(PostgresNode node) {
    return new AuditTrail(
        AuditDatabase.shared(database, node), REQUIRED, time, new SystemThreads());
  }

  @Test
  void the_next_active_server_continues_the_chain_and_the_one_before_cannot() throws Exception {
    try (var first = open(TestPostgres.activate(database))) {
      first.record(AuditEvent.done(ANN, "sign-in", ""));
      first.record(AuditEvent.done(ANN, "context-deleted", "context:c"));
      try (var connection = database.connect()) {
        var other = PostgresNode.register(connection, new NodeInfo("http://127.0.0.1:1", "test"));
        var active =
            other.beat(connection).stream()
                .filter(row -> row.role() == NodeRole.ACTIVE)
                .findFirst();
        assertThat(PostgresNode.declareDead(connection, active.orElseThrow())).isTrue();
      }
      first.record(AuditEvent.done(ANN, "too-late", ""));
      assertThatThrownBy(first::checkWritable).isInstanceOf(Rejection.Unavailable.class);
    }
    try (var second = open(TestPostgres.activate(database))) {
      second.record(AuditEvent.done(ANN, "sign-in", ""));
      var verifier = new ChainVerifier(second.ends().anchor());
      second.read(AuditQuery.after(0, 10)).forEach(verifier::accept);

      assertThat(verifier.atEnd(second.ends().head())).isTrue();
      assertThat(verifier.count()).isEqualTo(3);
      assertThat(second.read(AuditQuery.after(0, 10)))
          .noneMatch(each -> each.text().contains("too-late"));

      time.advance(Duration.ofDays(40));
      second.record(AuditEvent.done(ANN, "sign-in", ""));
      assertThat(second.ends().anchor().number()).isEqualTo(3);
    }
  }
}
