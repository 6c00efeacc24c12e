package dev.parley.cluster;

import dev.parley.cluster.NodeTable.BeatSession;
import dev.parley.log.OutageLogger;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The membership of this server in a cluster. It tells the other nodes that this one is alive,
/// and takes over if the active node is not.
///
/// Nodes see each other only through the database: each one increases a counter a few times a
/// second. A node whose counter does not change for [#DEAD_AFTER], by the time of the observer, is
/// declared dead. A node that cannot reach the database gives up its role earlier, after
/// [#LOST_AFTER]. Both times only decide when somebody acts: that a dead node writes nothing is
/// ensured by its epoch (see [PostgresNode]).
///
/// Thread-safe. The listener is called on the thread of the membership or of its watch.
public final class Membership implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Membership.class.getName());

  /// The time between two signs of life.
  static final Duration INTERVAL = Duration.ofMillis(250);

  /// How long a node may be silent before another one takes over.
  public static final Duration DEAD_AFTER = Duration.ofSeconds(5);

  /// How long this node may be unable to reach the database before it gives up its role. Shorter
  /// than [#DEAD_AFTER], so that its work has usually ended when another node continues it.
  static final Duration LOST_AFTER = Duration.ofMillis(3_500);

  /// How long this node keeps its role after it has lost the database, so that its work can end
  /// before another node continues it.
  static final Duration END_MAX = Duration.ofSeconds(2);

  /// The nodes of the cluster, this node as others see it, time and threads.
  public record MembershipDependencies(
      NodeTable nodes, NodeInfo info, Time time, Threads threads) {}

  /// Learns which role this node has.
  public interface RoleListener {

    /// This node is now the active one.
    void activated(PostgresNode node);

    /// This node must end its work; `reason` says why. If `orderly`, it remains the active one
    /// until [#resign]. Otherwise another node takes over soon, and the database may not reply.
    void deactivated(PostgresNode node, String reason, boolean orderly);

    /// The membership cannot continue, because of an error in this program.
    void failed(Throwable cause);

    /// Another node is active than at the last look, or none.
    void activeChanged();
  }

  private final MembershipDependencies dependencies;
  private final Time time;
  private final RoleListener listener;
  private final OutageLogger outageLogger;
  private final Map<Long, Observation> observed = new HashMap<>();
  private final Object changed = new Object();
  private final Thread thread;
  private final Thread watch;
  // Written by the thread of the membership.
  private volatile @Nullable PostgresNode self;
  // Guarded by `changed`. The active node of this server, the one whose work has not ended yet,
  // when
  // that one loses its role nevertheless, and when this server may take over again.
  private @Nullable PostgresNode active;
  private @Nullable PostgresNode held;
  private @Nullable Long heldUntil;
  private long takeOverFrom;
  private List<NodeRow> nodes = List.of();
  private long lastReply;
  private volatile boolean drained;
  private volatile boolean closed;

  /// The counter of a node, and when it was seen first.
  private record Observation(long beats, long since) {}

  private Membership(MembershipDependencies dependencies, RoleListener listener) {
    this.dependencies = dependencies;
    this.time = dependencies.time();
    this.listener = listener;
    this.outageLogger =
        new OutageLogger(
            LOG, "the database cannot be reached", "the database can be reached", time);
    this.lastReply = time.nanos();
    this.takeOverFrom = lastReply;
    thread = dependencies.threads().unstarted("parley-membership", this::run);
    watch = dependencies.threads().unstarted("parley-membership-watch", this::watch);
  }

  /// Joins the cluster as a standby node.
  public static Membership join(MembershipDependencies dependencies, RoleListener listener) {
    var membership = new Membership(dependencies, listener);
    membership.thread.start();
    membership.watch.start();
    return membership;
  }

  /// The nodes that were alive at the last look.
  public List<NodeRow> nodes() {
    synchronized (changed) {
      return nodes;
    }
  }

  /// The active node at the last look; empty if there is none, or if the database has not replied
  /// lately.
  public Optional<NodeRow> active() {
    synchronized (changed) {
      return current();
    }
  }

  /// The time since the last reply of the database.
  public Duration sinceReply() {
    synchronized (changed) {
      return Duration.ofNanos(time.nanos() - lastReply);
    }
  }

  private Optional<NodeRow> current() {
    if (time.nanos() - lastReply > DEAD_AFTER.toNanos()) {
      return Optional.empty();
    }
    return nodes.stream().filter(node -> node.role() == NodeRole.ACTIVE).findFirst();
  }

  /// Waits until another node is active, or this one, or until `patience` has passed.
  public Optional<NodeRow> awaitActive(Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    synchronized (changed) {
      while (current().isEmpty() && time.remaining(deadline) > 0 && !closed) {
        time.waitUntil(changed, deadline);
      }
      return current();
    }
  }

  /// True if another node was alive at the last look that can take over from this one.
  public boolean hasSuccessor() {
    return nodes().stream()
        .anyMatch(node -> node.role() == NodeRole.STANDBY && !node.drain() && !isSelf(node));
  }

  /// True if this node is the one that `node` describes.
  public boolean isSelf(NodeRow node) {
    var own = self;
    return own != null && own.id() == node.id();
  }

  /// The number of this node; 0 until it has joined.
  public long id() {
    var own = self;
    return own == null ? 0 : own.id();
  }

  /// From now on, this server does not take over any more.
  public void stopTakingOver() {
    drained = true;
  }

  /// Reports that the work of a node that was active has ended, so that another one can take over
  /// at once. This server becomes a standby node again, under another number, and does not take
  /// over during `pause`.
  public void resign(PostgresNode node, Duration pause) {
    synchronized (changed) {
      takeOverFrom = time.deadline(pause);
      if (node.equals(held)) {
        held = null;
        heldUntil = null;
      }
      if (node.equals(active)) {
        active = null;
      }
    }
    try {
      dependencies.nodes().leave(node);
    } catch (SQLException unreachable) {
      // The others notice that it is silent.
      LOG.log(Level.WARNING, "cannot leave the cluster: {0}", unreachable.getMessage());
    }
  }

  private void run() {
    try {
      participate();
    } catch (Throwable broken) { // The root of a thread.
      listener.failed(broken);
    }
  }

  private void participate() {
    while (!closed) {
      try (var session = dependencies.nodes().connect()) {
        participate(session);
      } catch (SQLException failed) {
        outageLogger.failed(String.valueOf(failed.getMessage()));
        pause();
      }
    }
  }

  private void participate(BeatSession session) throws SQLException {
    while (!closed) {
      var own = self;
      if (own == null) {
        own = session.register(dependencies.info());
        self = own;
        LOG.log(Level.INFO, "joined {0} as node {1}", dependencies.nodes(), own.id());
        if (drained) {
          // Others see that it does not take over.
          session.requestDrain(own);
        }
      }
      var begun = time.nanos();
      var found = session.beat(own);
      outageLogger.recovered();
      publish(found, begun);
      var id = own.id();
      var row = found.stream().filter(node -> node.id() == id).findFirst();
      if (row.isEmpty()) {
        lose("other nodes declared this one dead, because it gave no sign of life", false);
        self = null;
        continue;
      }
      if (row.get().drain()) {
        drained = true;
      }
      if (row.get().role() == NodeRole.ACTIVE && !holds(own)) {
        // The database could not be reached when its work ended, or its work has not ended in time.
        session.leave(own);
        self = null;
        continue;
      }
      if (drained && row.get().role() == NodeRole.ACTIVE) {
        lose("it is drained", true);
      } else if (!drained && row.get().role() == NodeRole.STANDBY) {
        takeOverIfSilent(own, found);
      }
      removeSilent(session, found, id);
      pause();
    }
  }

  private void publish(List<NodeRow> found, long begun) {
    long before;
    synchronized (changed) {
      before = activeId(nodes);
      nodes = found;
      lastReply = begun;
      changed.notifyAll();
    }
    if (activeId(found) != before) {
      listener.activeChanged();
    }
    observed.keySet().retainAll(found.stream().map(NodeRow::id).toList());
    for (var node : found) {
      var earlier = observed.get(node.id());
      if (earlier == null || earlier.beats() != node.beats()) {
        observed.put(node.id(), new Observation(node.beats(), begun));
      }
    }
  }

  private static long activeId(List<NodeRow> nodes) {
    return nodes.stream()
        .filter(node -> node.role() == NodeRole.ACTIVE)
        .mapToLong(NodeRow::id)
        .findFirst()
        .orElse(0);
  }

  private boolean silent(NodeRow node) {
    var observation = observed.get(node.id());
    return observation != null && time.nanos() - observation.since() > DEAD_AFTER.toNanos();
  }

  private void takeOverIfSilent(PostgresNode own, List<NodeRow> found) throws SQLException {
    var predecessor = found.stream().filter(node -> node.role() == NodeRole.ACTIVE).findFirst();
    if (!canTakeOver() || (predecessor.isPresent() && !silent(predecessor.get()))) {
      return;
    }
    // Not on the connection of the signs of life: this commit must be durable.
    if (!dependencies.nodes().takeOver(own, predecessor.orElse(null))) {
      return;
    }
    predecessor.ifPresent(
        node ->
            LOG.log(
                Level.WARNING,
                "node {0} gave no sign of life for {1} s; this node, {2}, takes over",
                node.id(),
                DEAD_AFTER.toSeconds(),
                own.id()));
    synchronized (changed) {
      active = own;
      held = own;
      heldUntil = null;
      nodes = found.stream().flatMap(node -> afterTakeOver(node, own).stream()).toList();
      lastReply = time.nanos();
    }
    listener.activated(own);
  }

  /// What has become of a node after `own` has taken over; empty if it is dead.
  private static Optional<NodeRow> afterTakeOver(NodeRow node, PostgresNode own) {
    if (node.id() == own.id()) {
      return Optional.of(
          new NodeRow(
              node.id(),
              NodeRole.ACTIVE,
              node.info(),
              node.beats(),
              node.secondsSilent(),
              node.drain()));
    }
    return node.role() == NodeRole.ACTIVE ? Optional.empty() : Optional.of(node);
  }

  private boolean holds(PostgresNode own) {
    synchronized (changed) {
      return own.equals(held) && (heldUntil == null || time.remaining(heldUntil) > 0);
    }
  }

  /// False while this server ends earlier work, or pauses after a failed attempt.
  private boolean canTakeOver() {
    synchronized (changed) {
      return held == null && time.remaining(takeOverFrom) <= 0;
    }
  }

  /// Declares standby nodes dead that are silent.
  private void removeSilent(BeatSession session, List<NodeRow> found, long id) throws SQLException {
    for (var node : found) {
      if (node.id() != id && node.role() == NodeRole.STANDBY && silent(node)) {
        session.declareDead(node);
      }
    }
  }

  /// Ends the role of this node if the database has not replied for too long, also while the thread
  /// of the membership waits for it.
  private void watch() {
    try {
      endSilentRoles();
    } catch (Throwable broken) { // The root of a thread.
      listener.failed(broken);
    }
  }

  private void endSilentRoles() {
    while (!closed) {
      long deadline;
      synchronized (changed) {
        deadline = lastReply + LOST_AFTER.toNanos();
      }
      if (time.remaining(deadline) <= 0) {
        lose("it could not reach the database for " + LOST_AFTER.toMillis() + " ms", false);
        deadline = time.deadline(INTERVAL);
      }
      time.parkUntil(this, deadline);
    }
  }

  private void lose(String reason, boolean orderly) {
    PostgresNode lost;
    synchronized (changed) {
      lost = active;
      active = null;
      if (lost != null && !orderly) {
        heldUntil = time.deadline(END_MAX);
      }
    }
    if (lost != null) {
      listener.deactivated(lost, reason, orderly);
    }
  }

  private void pause() {
    if (!closed) {
      time.parkUntil(this, time.deadline(INTERVAL));
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    LockSupport.unpark(watch);
    synchronized (changed) {
      changed.notifyAll();
    }
    try {
      thread.join();
      watch.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    var own = self;
    if (own != null) {
      resign(own, Duration.ZERO);
    }
  }
}
