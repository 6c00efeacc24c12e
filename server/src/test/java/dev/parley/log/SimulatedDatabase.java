package dev.parley.log;

import dev.parley.log.SimulatedTables.RowChange;
import dev.parley.log.SimulatedTables.RowKey;
import dev.parley.log.SimulatedTables.Table;
import dev.parley.runtime.SimulationScheduler;
import dev.parley.runtime.SimulationScheduler.SimulatedProcess;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A model of a PostgreSQL primary with a synchronous standby, as a cluster uses it.
///
/// What is true for PostgreSQL is true here: a commit is written to the write-ahead log first and
/// is acknowledged, visible and unlocked once the standby has it. A restart after a crash makes all
/// of the flushed log visible, also what the standby lacks. A failover loses exactly that. A
/// commit whose client has gone still takes place, when it arrives or when it gets its locks.
/// Transactions lock rows of nodes, and an idle one is ended after two seconds.
///
/// The model runs between threads, so it needs no locks of its own.
public final class SimulatedDatabase {

  private static final Duration IDLE_MAX = Duration.ofSeconds(2);
  private static final RowKey NODE_ID = RowKey.of(Table.NODE_IDS, 0);
  private static final int SEQUENCE_STEP = 32;

  private final SimulationScheduler scheduler;
  private final Random random;
  private final Set<Protection> protections;
  private final List<Session> sessions = new ArrayList<>();
  private final Map<Long, Transaction> locks = new HashMap<>();
  private final List<LockRequest> lockRequests = new ArrayList<>();
  private final List<CommitInFlight> inFlight = new ArrayList<>();
  private final List<List<RowChange>> journal = new ArrayList<>();
  // With the commits in flight, and without them.
  private SimulatedTables latest = new SimulatedTables();
  private SimulatedTables visible = new SimulatedTables();
  private int flushed;
  private int replicated;
  private int incarnation;
  private long lastNodeId;
  private boolean up = true;
  private boolean standbyPaused;

  /// What protects the log. Switched off only to show that the simulation notices it.
  public enum Protection {
    /// A transaction of the log checks the epoch of its node.
    FENCING,
    /// Opening a writer raises the epoch.
    NEW_EPOCH,
    /// Opening a writer is a commit that waits for the standby.
    BARRIER,
    /// Looking for a commit in doubt checks the epoch.
    FENCED_LOOKUP,
    /// Opening a reader is a commit that waits for the standby.
    READ_BARRIER
  }

  /// What happens to the next commit of a process.
  public enum CommitFault {
    REQUEST_LOST,
    REPLY_LOST,
    /// The connection breaks at once, and the commit arrives seconds later.
    LATE
  }

  /// A transaction: reads the rows and adds its changes.
  interface TransactionBody<T> {
    T run(SimulatedTables tables, List<RowChange> changes) throws SQLException;
  }

  private record LockRequest(Transaction transaction, Set<Long> nodes, Runnable granted) {}

  private record CommitInFlight(
      int position, List<RowChange> changes, Transaction transaction, Runnable acknowledge) {}

  private record Transaction(Session session) {
    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }

  public SimulatedDatabase(SimulationScheduler scheduler, Set<Protection> protections) {
    this.scheduler = scheduler;
    this.random = scheduler.random();
    this.protections = Set.copyOf(protections);
  }

  boolean has(Protection protection) {
    return protections.contains(protection);
  }

  /// What is committed and acknowledged.
  SimulatedTables visible() {
    return visible;
  }

  /// The next number of a sequence. As in PostgreSQL, it is logged only now and then, in advance.
  long nextNodeId(List<RowChange> changes) {
    lastNodeId++;
    if (lastNodeId > loggedNodeId()) {
      changes.add(new RowChange(NODE_ID, lastNodeId + SEQUENCE_STEP));
    }
    return lastNodeId;
  }

  private long loggedNodeId() {
    var logged = latest.get(Long.class, NODE_ID);
    return logged == null ? 0 : logged;
  }

  private Duration millis(double min, double max) {
    return Duration.ofNanos((long) ((min + random.nextDouble() * (max - min)) * 1e6));
  }

  // Faults.

  /// The database ends and starts again, with all that was flushed.
  public void crash(Duration down) {
    restart(flushed, down);
  }

  /// The standby becomes the primary, and gets a standby with the same data.
  public void failOver(Duration down) {
    restart(replicated, down);
    replicated = flushed;
    standbyPaused = false;
  }

  private void restart(int position, Duration down) {
    incarnation++;
    endSessions();
    inFlight.clear();
    journal.subList(position, journal.size()).clear();
    flushed = position;
    latest = new SimulatedTables();
    visible = new SimulatedTables();
    journal.forEach(latest::apply);
    journal.forEach(visible::apply);
    lastNodeId = loggedNodeId();
    up = false;
    var started = incarnation;
    scheduler.after(
        down,
        () -> {
          if (incarnation == started) {
            up = true;
            scheduler.after(millis(1, 2_000), () -> replicate(started, flushed));
          }
        });
  }

  /// An administrator ends all connections. Commits that wait for the standby take effect at once.
  public void terminateConnections() {
    inFlight.forEach(commit -> visible.apply(commit.changes()));
    inFlight.clear();
    endSessions();
  }

  private void endSessions() {
    locks.clear();
    lockRequests.clear();
    List.copyOf(sessions).forEach(Session::end);
  }

  /// The standby receives nothing until it is continued.
  public void pauseStandby() {
    standbyPaused = true;
  }

  public void continueStandby() {
    standbyPaused = false;
    replicate(incarnation, flushed);
  }

  // Transactions.

  private void lock(Transaction transaction, Set<Long> nodes, Runnable granted) {
    if (nodes.stream().anyMatch(node -> isLocked(node, transaction))) {
      lockRequests.add(new LockRequest(transaction, nodes, granted));
      return;
    }
    nodes.forEach(node -> locks.put(node, transaction));
    granted.run();
  }

  private boolean isLocked(long node, Transaction transaction) {
    var holder = locks.get(node);
    return holder != null && !holder.equals(transaction);
  }

  private void release(Transaction transaction) {
    locks.values().removeIf(transaction::equals);
    for (var waiting : List.copyOf(lockRequests)) {
      if (lockRequests.contains(waiting)
          && waiting.nodes().stream().noneMatch(n -> isLocked(n, waiting.transaction()))) {
        lockRequests.remove(waiting);
        lock(waiting.transaction(), waiting.nodes(), waiting.granted());
      }
    }
  }

  /// Runs `body`, commits, and replies when the commit is acknowledged.
  private <T> void commit(Transaction transaction, TransactionBody<T> body, Reply<T> reply) {
    var changes = new ArrayList<RowChange>();
    T result;
    try {
      result = body.run(latest, changes);
    } catch (SQLException failed) {
      release(transaction);
      reply.fail(failed);
      return;
    }
    if (changes.isEmpty()) {
      release(transaction);
      reply.succeed(result);
      return;
    }
    latest.apply(changes);
    journal.add(changes);
    var position = journal.size();
    var started = incarnation;
    if (transaction.session().asynchronous) {
      visible.apply(changes);
      release(transaction);
      reply.succeed(result);
      scheduler.after(millis(10, 600), () -> flush(started, position));
      return;
    }
    inFlight.add(new CommitInFlight(position, changes, transaction, () -> reply.succeed(result)));
    scheduler.after(millis(0.2, 3), () -> flush(started, position));
  }

  private void flush(int started, int position) {
    if (incarnation == started && position > flushed) {
      flushed = position;
      scheduler.after(millis(0.2, 3), () -> replicate(started, position));
    } else if (incarnation == started) {
      replicate(started, position);
    }
  }

  private void replicate(int started, int position) {
    if (incarnation != started || standbyPaused) {
      return;
    }
    replicated = Math.max(replicated, position);
    while (!inFlight.isEmpty() && inFlight.getFirst().position() <= replicated) {
      var commit = inFlight.removeFirst();
      visible.apply(commit.changes());
      release(commit.transaction());
      commit.acknowledge().run();
    }
  }

  /// The network between a process and the database.
  public Link link(SimulatedProcess process) {
    return new Link(process);
  }

  /// The network between a process and the database.
  public final class Link {
    private final SimulatedProcess process;
    private final List<Runnable> delayed = new ArrayList<>();
    private boolean partitioned;
    private @Nullable CommitFault commitFault;

    private Link(SimulatedProcess process) {
      this.process = process;
    }

    SimulatedProcess process() {
      return process;
    }

    /// Nothing arrives any more in either direction, until it is healed.
    public void partition() {
      partitioned = true;
    }

    /// What was sent meanwhile arrives now.
    public void heal() {
      partitioned = false;
      var messages = List.copyOf(delayed);
      delayed.clear();
      messages.forEach(this::send);
    }

    /// What happens to the next commit that waits for the standby.
    public void failNextCommit(CommitFault fault) {
      commitFault = fault;
    }

    /// The process has ended, so its connections are closed.
    public void processEnded() {
      for (var session : List.copyOf(sessions)) {
        if (session.link == this) {
          session.closeLater();
        }
      }
    }

    private @Nullable CommitFault takeCommitFault() {
      var fault = commitFault;
      commitFault = null;
      return fault;
    }

    private void send(Runnable message) {
      scheduler.after(
          random.nextInt(100) == 0 ? millis(50, 800) : millis(0.1, 1),
          () -> {
            if (!partitioned) {
              message.run();
            } else if (random.nextBoolean()) {
              delayed.add(message);
            }
          });
    }

    /// Connects to the database.
    ///
    /// @param asynchronous true if commits need not survive a crash
    Session connect(Duration patience, boolean asynchronous) throws SQLException {
      var session = new Session(this, patience, asynchronous);
      session.<Boolean>exchange(
          reply -> {
            if (up) {
              sessions.add(session);
              reply.succeed(true);
            } else {
              reply.fail(new SQLException("connection refused"));
            }
          });
      return session;
    }
  }

  /// What a client waits for.
  private static final class Reply<T> {
    private final Session session;
    private final Thread thread = Thread.currentThread();
    private boolean done;
    private @Nullable T result;
    private @Nullable SQLException failure;

    Reply(Session session) {
      this.session = session;
    }

    void succeed(T value) {
      session.link.send(() -> complete(value, null));
    }

    void fail(SQLException why) {
      session.link.send(() -> complete(null, why));
    }

    void complete(@Nullable T value, @Nullable SQLException why) {
      if (!done) {
        done = true;
        result = value;
        failure = why;
        LockSupport.unpark(thread);
      }
    }
  }

  /// A connection. For one thread.
  final class Session implements AutoCloseable {
    private final Link link;
    private final Duration patience;
    private final boolean asynchronous;
    private @Nullable Reply<?> waiting;
    // The client has given it up.
    private boolean closed;
    // The database has ended it.
    private boolean ended;
    // A commit is still on its way, so the database does not know that the client has gone.
    private boolean late;
    private final int begun = incarnation;
    // A transaction that waits for its next statement.
    private @Nullable Transaction idle;

    private Session(Link link, Duration patience, boolean asynchronous) {
      this.link = link;
      this.patience = patience;
      this.asynchronous = asynchronous;
    }

    SimulatedDatabase database() {
      return SimulatedDatabase.this;
    }

    Duration patience() {
      return patience;
    }

    /// Reads what is committed and acknowledged.
    <T> T query(Function<SimulatedTables, T> query) throws SQLException {
      return exchange(reply -> reply.succeed(query.apply(visible)));
    }

    /// A transaction of one statement, which locks the rows of these nodes.
    <T> T commit(Set<Long> nodes, TransactionBody<T> body) throws SQLException {
      return exchangeCommit(
          reply -> {
            var transaction = new Transaction(this);
            lock(transaction, nodes, () -> SimulatedDatabase.this.commit(transaction, body, reply));
          });
    }

    /// The first statement of a longer transaction: locks the rows of these nodes.
    void begin(Set<Long> nodes, TransactionBody<Boolean> check) throws SQLException {
      this.<Boolean>exchange(
          reply -> {
            var transaction = new Transaction(this);
            lock(
                transaction,
                nodes,
                () -> {
                  try {
                    reply.succeed(check.run(latest, new ArrayList<>()));
                    waitForStatement(transaction);
                  } catch (SQLException failed) {
                    release(transaction);
                    reply.fail(failed);
                  }
                });
          });
    }

    private void waitForStatement(Transaction transaction) {
      idle = transaction;
      scheduler.after(
          IDLE_MAX,
          () -> {
            if (transaction.equals(idle)) {
              end();
            }
          });
    }

    /// The rest of a longer transaction.
    <T> T finish(TransactionBody<T> body) throws SQLException {
      return exchangeCommit(
          reply -> {
            var transaction = idle;
            idle = null;
            if (transaction == null) {
              reply.fail(new SQLException("no transaction"));
            } else {
              SimulatedDatabase.this.commit(transaction, body, reply);
            }
          });
    }

    private <T> T exchangeCommit(Consumer<Reply<T>> request) throws SQLException {
      var fault = asynchronous ? null : link.takeCommitFault();
      if (fault == null) {
        return exchange(request);
      }
      switch (fault) {
        case REQUEST_LOST -> {}
        case REPLY_LOST -> arriveLate(request, millis(0.1, 20));
        case LATE -> arriveLate(request, millis(100, 8_000));
      }
      var reply = new Reply<T>(this);
      scheduler.after(
          millis(0.1, 20), () -> reply.complete(null, new SQLException("connection reset")));
      return await(reply);
    }

    private <T> void arriveLate(Consumer<Reply<T>> request, Duration delay) {
      late = true;
      scheduler.after(
          delay,
          () -> {
            arrive(request, new Reply<T>(this));
            late = false;
            closeLater();
          });
    }

    private <T> T exchange(Consumer<Reply<T>> request) throws SQLException {
      if (closed) {
        throw new SQLException("the connection is closed");
      }
      var reply = new Reply<T>(this);
      waiting = reply;
      link.send(() -> arrive(request, reply));
      return await(reply);
    }

    private <T> void arrive(Consumer<Reply<T>> request, Reply<T> reply) {
      if (ended || begun != incarnation) {
        reply.fail(new SQLException("connection reset"));
      } else {
        request.accept(reply);
      }
    }

    private <T> T await(Reply<T> reply) throws SQLException {
      var time = link.process.time();
      var deadline = time.deadline(patience);
      var interrupted = false;
      while (!reply.done && time.remaining(deadline) > 0) {
        time.parkUntil(reply, deadline);
        interrupted |= Thread.interrupted();
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      waiting = null;
      if (reply.failure instanceof FencedException fenced) {
        throw fenced;
      }
      if (reply.failure != null || !reply.done) {
        closed = true;
        throw new SQLException(reply.failure == null ? "no reply" : reply.failure.getMessage());
      }
      return reply.result;
    }

    /// The database ends the session: a transaction without a commit is undone.
    private void end() {
      ended = true;
      sessions.remove(this);
      abort();
      if (waiting != null) {
        waiting.fail(new SQLException("connection reset"));
      }
    }

    private void abort() {
      var open = idle;
      idle = null;
      if (open != null) {
        release(open);
      }
    }

    private void closeLater() {
      link.send(
          () -> {
            if (!late) {
              ended = true;
              sessions.remove(this);
              abort();
            }
          });
    }

    @Override
    public void close() {
      closed = true;
      closeLater();
    }
  }
}
