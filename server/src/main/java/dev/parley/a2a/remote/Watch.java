package dev.parley.a2a.remote;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.a2a.WireStatusUpdate;
import dev.parley.a2a.WireTask;
import dev.parley.a2a.remote.Peer.Reply;
import dev.parley.proxy.RemoteStream;
import dev.parley.proxy.RemoteStream.Item;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Follows a remote task until it ends or waits for a person, and reconnects when its stream
/// breaks. For one thread.
///
/// The events of the first stream are written as they arrive, and also those of later streams if
/// the agent numbers its events and resumes after the last one. Otherwise events may be missing or
/// repeated: from then on, an event is only a hint that the task changed, and the follower fetches
/// the task and writes the difference.
final class Watch {

  private static final int FAILURES_MAX = 12;
  private static final int LOOKS_MAX = 20;
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);
  private static final int DOUBLINGS_MAX = 5;
  private static final int HISTORY = 100;

  private final Peer peer;
  private final RemoteStory story;
  private final Teller teller;
  private final String owner;
  private String last = "";
  private boolean trusted = true;
  private boolean resumed;
  private boolean polls;
  private int quiet;

  Watch(Peer peer, RemoteStory story, Teller teller, String owner) {
    this.peer = peer;
    this.story = story;
    this.teller = teller;
    this.owner = owner;
  }

  /// Waits, longer each time.
  static void pause(int times) throws InterruptedException {
    if (times > 0) {
      var wait = PAUSE.multipliedBy(1L << Math.min(times - 1, DOUBLINGS_MAX));
      Thread.sleep(wait.compareTo(PAUSE_MAX) > 0 ? PAUSE_MAX : wait);
    }
  }

  /// Marks the stream as unreliable: events may be missing.
  void distrust() {
    trusted = false;
    last = "";
  }

  /// Writes all events and returns the final state; null if the agent did not acknowledge the
  /// message.
  @Nullable WireState follow(Reply first) throws Trouble, InterruptedException {
    for (var reply = first; ; reply = again()) {
      hear(reply);
      quiet = teller.flush() ? 0 : quiet + 1;
      if (!story.heard) {
        return null;
      }
      if (over()) {
        return teller.status().state();
      }
    }
  }

  private boolean over() {
    var status = teller.status();
    return status.state().terminal()
        || (status.state().interrupted() && !isAnswered(status, story.answered));
  }

  /// True if this question was already answered. A question without an id counts as new.
  static boolean isAnswered(WireStatus status, @Nullable String answered) {
    return answered != null && !answered.isEmpty() && answered.equals(Inquiry.name(status));
  }

  private void hear(Reply reply) throws Trouble, InterruptedException {
    switch (reply) {
      case Reply.One(var item) -> teller.tell(item);
      case Reply.Many(var stream) -> {
        try (stream) {
          hear(stream);
        } catch (Trouble trouble) {
          // After the task has started, a broken stream does not mean that the task failed.
          if (!story.heard || !trouble.passing()) {
            throw trouble;
          }
        }
      }
    }
  }

  private void hear(RemoteStream stream) throws Trouble, InterruptedException {
    var first = resumed;
    resumed = false;
    while (true) {
      var item = stream.next(peer.settings().silence());
      WireItem hint = null;
      while (item instanceof Item.Came(var frame) && !over()) {
        var said = peer.item(frame);
        if (said != null) {
          if (first && said instanceof WireTask) {
            distrust();
          }
          first = false;
          hint = tell(said) ? hint : said;
        }
        if (trusted && frame.id() != null) {
          last = frame.id();
        }
        item = stream.ready();
      }
      if (hint != null) {
        look(hint);
      }
      if (teller.flush()) {
        quiet = 0;
      }
      if (over() || (item != null && !(item instanceof Item.Came))) {
        return;
      }
    }
  }

  /// Writes the item, unless it is only a hint. Returns false if it is.
  private boolean tell(WireItem said) throws Trouble {
    if (trusted || !story.heard || said instanceof WireTask || said instanceof WireMessage) {
      teller.tell(said);
      return true;
    }
    return false;
  }

  /// Fetches and writes the task. If the hint says that it is over, polls until the task shows it.
  private void look(WireItem hint) throws Trouble, InterruptedException {
    var ends =
        hint instanceof WireStatusUpdate update
            && (update.status().state().terminal() || update.status().state().interrupted());
    for (var i = 1; ; i++) {
      teller.tell(now());
      if (!ends || over()) {
        return;
      }
      if (i == LOOKS_MAX) {
        teller.tell(hint);
        return;
      }
      pause(1);
    }
  }

  private WireTask now() throws Trouble, InterruptedException {
    return peer.task(new Ask.Get(String.valueOf(story.task), HISTORY), owner);
  }

  /// Subscribes to the task again, or polls it.
  Reply again() throws Trouble, InterruptedException {
    if (last.isEmpty()) {
      distrust();
    }
    for (var failures = 0; ; ) {
      try {
        if (polls || !peer.streams(owner)) {
          pause(Math.max(1, quiet));
          return new Reply.One(now());
        }
        pause(Math.max(failures, quiet));
        resumed = true;
        return peer.follow(new Ask.Subscribe(String.valueOf(story.task), last), owner);
      } catch (Trouble trouble) {
        if (!polls && trouble.is(A2aError.UNSUPPORTED_OPERATION, A2aError.METHOD_NOT_FOUND)) {
          // An ended task cannot be subscribed to, either.
          polls = true;
          distrust();
        } else if (!trouble.passing() || ++failures == FAILURES_MAX) {
          throw trouble;
        }
      }
    }
  }
}
