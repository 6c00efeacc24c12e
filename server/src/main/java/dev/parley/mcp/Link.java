package dev.parley.mcp;

import dev.parley.mcp.Trouble.Kind;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Keeps a connection to a server open: connects, lists its tools, reconnects when the connection
/// breaks, and waits longer after each failed attempt. Safe for many threads; the lock guards its
/// state.
final class Link implements AutoCloseable, Session.Keeper {

  private static final System.Logger LOG = System.getLogger(Link.class.getName());
  private static final Duration CHECK = Duration.ofSeconds(5);
  private static final Duration SOON = Duration.ofSeconds(2);

  private enum State {
    STARTING,
    UP,
    DOWN,
    CLOSED
  }

  private final String server;
  private final Supplier<Wire> wires;
  private final Pace pace;
  private final String clientVersion;
  private final Thread thread;
  private State state = State.STARTING;
  private @Nullable Session session;
  private @Nullable Trouble trouble;
  private @Nullable List<Listed> tools;
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

  Link(McpServer server, Supplier<Wire> wires, Pace pace, String clientVersion) {
    this.server = server.name();
    this.wires = wires;
    this.pace = pace;
    this.clientVersion = clientVersion;
    this.thread = Thread.ofVirtual().name("mcp-" + this.server).unstarted(this::keep);
  }

  Link start() {
    thread.start();
    return this;
  }

  /// The open session. Waits while it is being opened, or soon will be.
  synchronized Session session() throws Trouble, InterruptedException {
    settle();
    if (state == State.DOWN && !signInNeeded() && retryAt - System.nanoTime() < SOON.toNanos()) {
      var before = attempts;
      while (state == State.DOWN && attempts == before) {
        wait();
      }
      settle();
    }
    var current = session;
    if (state == State.UP && current != null) {
      return current;
    }
    throw why();
  }

  /// The last tool list of the server; empty if there is none. Waits for the first attempt to
  /// connect, and while the tools are being listed again.
  synchronized Optional<List<Listed>> tools() throws InterruptedException {
    if (trouble == null) {
      settle();
    }
    refreshIfOld();
    return Optional.ofNullable(tools);
  }

  /// The tools of the server. Waits for the first attempt to connect, but for no other.
  synchronized List<Listed> firstTools() throws Trouble, InterruptedException {
    settle();
    if (tools != null && trouble == null) {
      return tools;
    }
    throw trouble == null
        ? new Trouble(Kind.SILENT, "the MCP server " + server + " does not answer")
        : trouble;
  }

  /// The sign-in challenge, if a missing sign-in is why there is no connection.
  synchronized Optional<Challenge> refused() {
    return state == State.DOWN && signInNeeded()
        ? Optional.of(why().challenge())
        : Optional.empty();
  }

  /// Retries now, if a retry is pending.
  synchronized void poke() {
    if (state == State.DOWN) {
      trouble = null;
      tryAgain();
    }
  }

  @Override
  public synchronized void toolsChanged(Session from) {
    if (from == session) {
      changes++;
      notifyAll();
    }
  }

  @Override
  public void troubled(Session from, Trouble what, boolean over) {
    if (over) {
      lost(from, what);
    } else {
      Thread.ofVirtual().name("mcp-check-" + server).start(() -> check(from, what));
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
      thread.join(pace.end().multipliedBy(3));
    } catch (InterruptedException inHaste) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void lost(Session which, Trouble why) {
    if (which == session) {
      session = null;
      trouble = why;
      // Until it is decided whether to wait before the next attempt.
      state = state == State.CLOSED ? state : State.STARTING;
      notifyAll();
    }
  }

  private void check(Session suspect, Trouble what) {
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
    var current = session;
    var age = System.nanoTime() - listedAt;
    if (lists
        && !refreshing
        && state == State.UP
        && current != null
        && age > pace.fresh().toNanos()) {
      refreshing = true;
      listedAt = System.nanoTime();
      Thread.ofVirtual().name("mcp-list-" + server).start(() -> refresh(current));
    }
  }

  private void refresh(Session from) {
    int before;
    synchronized (this) {
      before = changes;
    }
    try {
      var listed = Listed.all(from, pace.connect());
      synchronized (this) {
        if (session == from && changes == before && known == before) {
          tools = listed;
        }
      }
    } catch (Trouble busy) {
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

  private void keep() {
    var failures = 0;
    try {
      while (!Thread.currentThread().isInterrupted()) {
        var began = System.nanoTime();
        try (var opened = new Session(server, wires.get(), this)) {
          open(opened);
          serve(opened);
          var lived = Duration.ofNanos(System.nanoTime() - began);
          var healthy = opened.answered() || lived.compareTo(pace.healthy()) > 0;
          failures = healthy || forgotten() ? 0 : failures + 1;
        } catch (Trouble failed) {
          failures++;
          fell(failed);
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
    fell(new Trouble(Kind.GONE, "the MCP server " + server + " is not available: internal error"));
    notifyAll();
  }

  private void open(Session opened) throws Trouble, InterruptedException {
    synchronized (this) {
      session = opened;
      changes = 0;
      known = 0;
    }
    var able = opened.open(clientVersion, pace.connect()).has("tools");
    synchronized (this) {
      lists = able;
    }
    know(opened, able ? Listed.all(opened, pace.connect()) : List.of(), 0);
  }

  /// Lists the tools again after each change, until the connection breaks.
  private void serve(Session opened) throws Trouble, InterruptedException {
    while (true) {
      int upTo;
      synchronized (this) {
        while (session == opened && known == changes) {
          wait();
        }
        if (session != opened) {
          return;
        }
        upTo = changes;
      }
      know(opened, Listed.all(opened, pace.connect()), upTo);
    }
  }

  private synchronized void know(Session from, List<Listed> listed, int upTo) {
    tools = listed;
    listedAt = System.nanoTime();
    known = upTo;
    if (session == from && state == State.STARTING) {
      state = State.UP;
      trouble = null;
      LOG.log(Level.INFO, "the MCP server {0} is up, with {1} tools", server, listed.size());
    }
    notifyAll();
  }

  private synchronized boolean forgotten() {
    return trouble != null && trouble.kind() == Kind.FORGOTTEN;
  }

  private synchronized void fell(Trouble what) {
    session = null;
    trouble = what;
  }

  private synchronized void pause(int failures) throws InterruptedException {
    var signIn = signInNeeded();
    var pause = pace.pause(failures);
    if (state == State.CLOSED || (pause.isZero() && !signIn)) {
      return;
    }
    state = State.DOWN;
    retryAt = System.nanoTime() + pause.toNanos();
    notifyAll();
    var level = failures == 1 && !signIn ? Level.WARNING : Level.DEBUG;
    LOG.log(level, () -> why().text().replace('\n', ' '));
    while (state == State.DOWN) {
      var millis = (retryAt - System.nanoTime()) / 1_000_000;
      if (signIn) {
        wait();
      } else if (millis > 0) {
        wait(millis);
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
  private void settle() throws InterruptedException {
    var deadline = System.nanoTime() + pace.connect().toNanos();
    while (state == State.STARTING || (state == State.UP && known != changes)) {
      var millis = (deadline - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        return;
      }
      wait(millis);
    }
  }

  /// With the lock.
  private boolean signInNeeded() {
    return trouble != null && trouble.kind() == Kind.UNAUTHORIZED;
  }

  /// With the lock.
  private Trouble why() {
    var reason =
        trouble == null
            ? new Trouble(Kind.GONE, "the MCP server " + server + " is not available")
            : trouble;
    if (state != State.DOWN || reason.kind() == Kind.UNAUTHORIZED) {
      return reason;
    }
    var seconds = Math.max(1, (retryAt - System.nanoTime()) / 1_000_000_000);
    return new Trouble(
        Kind.GONE, Text.sentence(reason.text()) + "\nThe next attempt is in " + seconds + " s");
  }
}
