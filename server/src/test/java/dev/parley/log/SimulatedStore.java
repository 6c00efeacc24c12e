package dev.parley.log;

import dev.parley.log.BlockLog.BlockLogDependencies;
import dev.parley.log.SimulatedDatabase.Link;
import dev.parley.log.SimulatedDatabase.Protection;
import dev.parley.log.SimulatedTables.RowChange;
import dev.parley.log.SimulatedTables.RowKey;
import dev.parley.log.SimulatedTables.Table;
import dev.parley.protocol.Rejection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.random.RandomGenerator;

/// The store of a node in a simulated database.
public final class SimulatedStore implements BlockStore {

  /// As in a server: longer than a standby usually needs.
  private static final Duration REPLY_MAX = Duration.ofSeconds(30);

  private final Link link;
  private final PostgresNode node;
  private final LogTuning tuning;

  private SimulatedStore(Link link, PostgresNode node, LogTuning tuning) {
    this.link = link;
    this.node = node;
    this.tuning = tuning;
  }

  /// Limits so small that all parts of the log are used after a few events.
  private static LogTuning tuning(RandomGenerator random) {
    return new LogTuning(64, 4_096, random.nextBoolean() ? 5 : 25, 2_000, 8_000, 2, 64 << 10);
  }

  /// Opens the log, as [PostgresLog] does.
  public static BlockLog open(
      Link link, PostgresNode node, RandomGenerator random, FatalHandler fatal) {
    var process = link.process();
    var tuning = tuning(random);
    try {
      return new BlockLog(
          new BlockLogDependencies(
              new SimulatedStore(link, node, tuning), process.time(), process, random, tuning),
          () -> {},
          fatal);
    } catch (SQLException failed) {
      throw new Rejection.Unavailable("the log cannot be opened: " + failed.getMessage());
    }
  }

  @Override
  public StoreWriter openWriter() throws SQLException {
    var session = link.connect(REPLY_MAX, false);
    var opened = false;
    try {
      var epoch =
          SimulatedNodes.raiseEpoch(link, session, node.id())
              .orElseThrow(() -> new FencedException(node.id()));
      var writer = new SimulatedWriter(session, node.id(), epoch, tuning.stateEvents());
      opened = true;
      return writer;
    } finally {
      if (!opened) {
        session.close();
      }
    }
  }

  @Override
  public StoreReader openReader() throws SQLException {
    var session = link.connect(REPLY_MAX, false);
    if (session.database().has(Protection.READ_BARRIER)) {
      session.commit(
          Set.of(), (_, changes) -> changes.add(new RowChange(RowKey.of(Table.CLUSTER, 0), true)));
    }
    return new SimulatedReader(session);
  }

  @Override
  public long journalBytes() {
    return 0;
  }

  @Override
  public CopyResult copyJournal() {
    return new CopyResult(true, 0);
  }
}
