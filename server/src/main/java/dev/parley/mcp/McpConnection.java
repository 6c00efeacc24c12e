package dev.parley.mcp;

import dev.parley.mcp.McpDependencies.McpTimeouts;
import dev.parley.mcp.McpFailure.FailureKind;
import dev.parley.mcp.OAuthDiscovery.BearerChallenge;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Keeps a connection to a server open: connects, lists its tools, reconnects when the connection
/// breaks, and waits longer after each failed attempt. Safe for many threads; the lock guards its
/// state.
final class McpConnection implements AutoCloseable, McpSession.SessionListener {

  private static final System.Logger LOG = System.getLogger(McpConnection.class.getName());
  private static final Duration CHECK = Duration.ofSeconds(5);
  private static final Duration SOON = Duration.ofSeconds(2);

  private enum State {
    STARTING,
    UP,
    DOWN,
    CLOSED
  }

  private final String server;
  private final Supplier<McpTransport> transports;
  private final Time time;
  private final Threads threads;
  private final McpTimeouts mcpTimeouts;
  private final String clientVersion;
  private final Thread thread;
  private State state = State.STARTING;
  private @Nullable McpSession mcpSession;
  private @Nullable McpFailure failure;
  private @Nullable List<ListedTool> tools;
  // The number of changes of the tool list, and the last change that is known here.
  private int changes;
  private int known;
  // When the tools were last listed, and whether the server can list tools.
  private long listedAt;
  private boolean lists;
  // True while the tools are listed again: one request at a time is enough.
  private boolean refreshing;
  // The number of retries, and the time of the next one.
  private int attempts;
  private long retryAt;

  McpConnection(McpServer server, Supplier<McpTransport> transports, McpDependencies dependencies) {
    this.server = server.name();
    this.transports = transports;
    this.time = dependencies.time();
    this.threads = dependencies.threads();
    this.mcpTimeouts = dependencies.timeouts();
    this.clientVersion = dependencies.version();
    this.thread = threads.unstarted("mcp-" + this.server, this::maintain);
  }

  McpConnection start() {
    thread.start();
    return this;
  }

  /// The open session. Waits while it is being opened, or soon will be.
  synchronized McpSession session() throws McpFailure, InterruptedException {
    awaitSettled();
    if (state == State.DOWN && !signInNeeded() && time.remaining(retryAt) < SOON.toNanos()) {
      var before = attempts;
      while (state == State.DOWN && attempts == before) {
        wait();
      }
      awaitSettled();
    }
    var current = mcpSession;
    if (state == State.UP && current != null) {
      return current;
    }
    throw failureNow();
  }

  /// The last tool list of the server; empty if there is none. Waits for the first attempt to
  /// connect, and while the tools are being listed again.
  synchronized Optional<List<ListedTool>> tools() throws InterruptedException {
    if (failure == null) {
      awaitSettled();
    }
    refreshIfOld();
    return Optional.ofNullable(tools);
  }

  /// The tools of the server. Waits for the first attempt to connect, but for no other.
  synchronized List<ListedTool> firstTools() throws McpFailure, InterruptedException {
    awaitSettled();
    if (tools != null && failure == null) {
      return tools;
    }
    throw failure == null
        ? new McpFailure(FailureKind.TIMED_OUT, "the MCP server " + server + " does not answer")
        : failure;
  }

  /// The sign-in challenge, if a missing sign-in is why there is no connection.
  synchronized Optional<BearerChallenge> signInChallenge() {
    return state == State.DOWN && signInNeeded()
        ? Optional.of(failureNow().challenge())
        : Optional.empty();
  }

  /// Retries now, if a retry is pending.
  synchronized void retryNow() {
    if (state == State.DOWN) {
      failure = null;
      tryAgain();
    }
  }

  @Override
  public synchronized void onToolsChanged(McpSession from) {
    if (from == mcpSession) {
      changes++;
      notifyAll();
    }
  }

  @Override
  public void onFailure(McpSession from, McpFailure what, boolean over) {
    if (over) {
      sessionEnded(from, what);
    } else {
      threads.start("mcp-check-" + server, () -> check(from, what));
    }
  }

  /// Closes the connection, and waits until it is closed.
  @Override
  public void close() {
    synchronized (this) {
      state = State.CLOSED;
      notifyAll();
    }
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    thread.interrupt();
    try {
      thread.join(mcpTimeouts.shutdown().multipliedBy(3));
    } catch (InterruptedException inHaste) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void sessionEnded(McpSession which, McpFailure why) {
    if (which == mcpSession) {
      mcpSession = null;
      failure = why;
      // Until it is decided whether to wait before the next attempt.
      state = state == State.CLOSED ? state : State.STARTING;
      notifyAll();
    }
  }

  private void check(McpSession suspect, McpFailure what) {
    try {
      if (!suspect.alive(CHECK)) {
        suspect.end(what);
      }
    } catch (InterruptedException never) {
      Thread.currentThread().interrupt();
    }
  }

  /// Lists the tools again in the background, for the next caller: not every server reports
  /// changes, and over HTTP a report can be lost. With the lock.
  private void refreshIfOld() {
    var current = mcpSession;
    var age = time.nanos() - listedAt;
    if (lists
        && !refreshing
        && state == State.UP
        && current != null
        && age > mcpTimeouts.toolListMaxAge().toNanos()) {
      refreshing = true;
      listedAt = time.nanos();
      threads.start("mcp-list-" + server, () -> refresh(current));
    }
  }

  private void refresh(McpSession from) {
    int before;
    synchronized (this) {
      before = changes;
    }
    try {
      var listed = ListedTool.all(from, mcpTimeouts.connect());
      synchronized (this) {
        if (mcpSession == from && changes == before && known == before) {
          tools = listed;
        }
      }
    } catch (McpFailure busy) {
      // The server may be busy. If there is a real problem, the next call reports it.
      LOG.log(Level.DEBUG, "cannot list the tools of {0} again: {1}", server, busy.text());
    } catch (InterruptedException never) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (this) {
        refreshing = false;
      }
    }
  }

  private void maintain() {
    var failures = 0;
    try {
      while (!Thread.currentThread().isInterrupted()) {
        var began = time.nanos();
        try (var opened = new McpSession(server, transports.get(), this, time)) {
          open(opened);
          watch(opened);
          var lived = Duration.ofNanos(time.nanos() - began);
          var healthy = opened.answered() || lived.compareTo(mcpTimeouts.healthyAfter()) > 0;
          failures = healthy || isSessionLost() ? 0 : failures + 1;
        } catch (McpFailure failed) {
          failures++;
          recordFailure(failed);
        }
        pause(failures);
      }
    } catch (InterruptedException closing) {
      // The connection is closed.
    } catch (RuntimeException broken) { // root of a thread
      LOG.log(Level.ERROR, "the connection thread of the MCP server " + server + " failed", broken);
      giveUp();
    }
  }

  private synchronized void giveUp() {
    state = State.CLOSED;
    recordFailure(
        new McpFailure(
            FailureKind.UNAVAILABLE,
            "the MCP server " + server + " is not available: internal error"));
    notifyAll();
  }

  private void open(McpSession opened) throws McpFailure, InterruptedException {
    synchronized (this) {
      mcpSession = opened;
      changes = 0;
      known = 0;
    }
    var able = opened.open(clientVersion, mcpTimeouts.connect()).has("tools");
    synchronized (this) {
      lists = able;
    }
    setTools(opened, able ? ListedTool.all(opened, mcpTimeouts.connect()) : List.of(), 0);
  }

  /// Lists the tools again after each change, until the connection breaks.
  private void watch(McpSession opened) throws McpFailure, InterruptedException {
    while (true) {
      int upTo;
      synchronized (this) {
        while (mcpSession == opened && known == changes) {
          wait();
        }
        if (mcpSession != opened) {
          return;
        }
        upTo = changes;
      }
      setTools(opened, ListedTool.all(opened, mcpTimeouts.connect()), upTo);
    }
  }

  private synchronized void setTools(McpSession from, List<ListedTool> listed, int upTo) {
    tools = listed;
    listedAt = time.nanos();
    known = upTo;
    if (mcpSession == from && state == State.STARTING) {
      state = State.UP;
      failure = null;
      LOG.log(Level.INFO, "the MCP server {0} is up, with {1} tools", server, listed.size());
    }
    notifyAll();
  }

  private synchronized boolean isSessionLost() {
    return failure != null && failure.kind() == FailureKind.SESSION_LOST;
  }

  private synchronized void recordFailure(McpFailure what) {
    mcpSession = null;
    failure = what;
  }

  private synchronized void pause(int failures) throws InterruptedException {
    var signIn = signInNeeded();
    var pause = mcpTimeouts.retryDelay(failures);
    if (state == State.CLOSED || (pause.isZero() && !signIn)) {
      return;
    }
    state = State.DOWN;
    retryAt = time.deadline(pause);
    notifyAll();
    var level = failures == 1 && !signIn ? Level.WARNING : Level.DEBUG;
    LOG.log(level, () -> failureNow().text().replace('\n', ' '));
    while (state == State.DOWN) {
      if (signIn) {
        wait();
      } else if (time.remaining(retryAt) > 0) {
        time.waitUntil(this, retryAt);
      } else {
        tryAgain();
      }
    }
  }

  /// With the lock.
  private void tryAgain() {
    state = State.STARTING;
    attempts++;
    notifyAll();
  }

  /// Waits while the connection is being opened or the tools are being listed. With the lock.
  private void awaitSettled() throws InterruptedException {
    var deadline = time.deadline(mcpTimeouts.connect());
    while (state == State.STARTING || (state == State.UP && known != changes)) {
      if (time.remaining(deadline) <= 0) {
        return;
      }
      time.waitUntil(this, deadline);
    }
  }

  /// With the lock.
  private boolean signInNeeded() {
    return failure != null && failure.kind() == FailureKind.UNAUTHORIZED;
  }

  /// With the lock.
  private McpFailure failureNow() {
    var reason =
        failure == null
            ? new McpFailure(
                FailureKind.UNAVAILABLE, "the MCP server " + server + " is not available")
            : failure;
    if (state != State.DOWN || reason.kind() == FailureKind.UNAUTHORIZED) {
      return reason;
    }
    var seconds = Math.max(1, time.remaining(retryAt) / 1_000_000_000);
    return new McpFailure(
        FailureKind.UNAVAILABLE,
        BoundedText.sentence(reason.text()) + "\nThe next attempt is in " + seconds + " s");
  }
}
