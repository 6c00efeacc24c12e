package dev.parley.external.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.external.a2a.A2aClient.A2aReply;
import dev.parley.net.ServerSentEventStream;
import dev.parley.net.ServerSentEventStream.StreamItem;
import org.jspecify.annotations.Nullable;

/// Follows a remote task until it ends or waits for a person, and reconnects when its stream
/// breaks. For one thread.
///
/// The events of the first stream are written as they arrive, and also those of later streams if
/// the agent numbers its events and resumes after the last one. Otherwise events may be missing or
/// repeated: from then on, an event is only a hint that the task changed, and the follower fetches
/// the task and writes the difference.
final class RemoteTaskFollower {

  private static final int FAILURES_MAX = 12;
  private static final int POLLS_MAX = 20;
  private static final int HISTORY = 100;

  private final A2aClient client;
  private final RemoteTaskState remoteState;
  private final RemoteEventWriter writer;
  private final String owner;
  private String lastEventId = "";
  private boolean reliable = true;
  private boolean resumed;
  private boolean polls;
  private int emptyReads;

  RemoteTaskFollower(
      A2aClient a2aClient,
      RemoteTaskState story,
      RemoteEventWriter remoteEventWriter,
      String owner) {
    this.client = a2aClient;
    this.remoteState = story;
    this.writer = remoteEventWriter;
    this.owner = owner;
  }

  /// Marks the stream as unreliable: events may be missing.
  void markUnreliable() {
    reliable = false;
    lastEventId = "";
  }

  /// Writes all events and returns the final state; null if the agent did not acknowledge the
  /// message.
  @Nullable A2aState follow(A2aReply first) throws A2aFailure, InterruptedException {
    for (var a2aReply = first; ; a2aReply = reconnect()) {
      read(a2aReply);
      emptyReads = writer.flush() ? 0 : emptyReads + 1;
      if (!remoteState.acknowledged) {
        return null;
      }
      if (isDone()) {
        return writer.status().state();
      }
    }
  }

  private boolean isDone() {
    var status = writer.status();
    return status.state().terminal()
        || (status.state().interrupted() && !isAnswered(status, remoteState.answered));
  }

  /// True if this question was already answered. A question without an id counts as new.
  static boolean isAnswered(A2aStatus status, @Nullable String answered) {
    return answered != null
        && !answered.isEmpty()
        && answered.equals(RemoteQuestionMapper.questionId(status));
  }

  private void read(A2aReply a2aReply) throws A2aFailure, InterruptedException {
    switch (a2aReply) {
      case A2aReply.SingleReply(var item) -> writer.apply(item);
      case A2aReply.StreamReply(var stream) -> {
        try (stream) {
          read(stream);
        } catch (A2aFailure a2aFailure) {
          // After the task has started, a broken stream does not mean that the task failed.
          if (!remoteState.acknowledged || !a2aFailure.retryable()) {
            throw a2aFailure;
          }
        }
      }
    }
  }

  private void read(ServerSentEventStream stream) throws A2aFailure, InterruptedException {
    var first = resumed;
    resumed = false;
    while (true) {
      var streamItem = stream.next(client.settings().silence());
      A2aResponseItem hint = null;
      while (streamItem instanceof StreamItem.EventReceived(var serverSentEvent) && !isDone()) {
        var said = client.item(serverSentEvent);
        if (said != null) {
          if (first && said instanceof A2aTask) {
            markUnreliable();
          }
          first = false;
          hint = applyUnlessHint(said) ? hint : said;
        }
        if (reliable && serverSentEvent.id() != null) {
          lastEventId = serverSentEvent.id();
        }
        streamItem = stream.ready();
      }
      if (hint != null) {
        poll(hint);
      }
      if (writer.flush()) {
        emptyReads = 0;
      }
      if (isDone() || (streamItem != null && !(streamItem instanceof StreamItem.EventReceived))) {
        return;
      }
    }
  }

  /// Writes the item, unless it is only a hint. Returns false if it is.
  private boolean applyUnlessHint(A2aResponseItem said) throws A2aFailure {
    if (reliable
        || !remoteState.acknowledged
        || said instanceof A2aTask
        || said instanceof A2aMessage) {
      writer.apply(said);
      return true;
    }
    return false;
  }

  /// Fetches and writes the task. If the hint says that it is over, polls until the task shows it.
  private void poll(A2aResponseItem hint) throws A2aFailure, InterruptedException {
    var ends =
        hint instanceof A2aStatusUpdate update
            && (update.status().state().terminal() || update.status().state().interrupted());
    for (var i = 1; ; i++) {
      writer.apply(fetchTask());
      if (!ends || isDone()) {
        return;
      }
      if (i == POLLS_MAX) {
        writer.apply(hint);
        return;
      }
      client.pause(1);
    }
  }

  private A2aTask fetchTask() throws A2aFailure, InterruptedException {
    return client.task(new A2aRequest.GetTask(String.valueOf(remoteState.task), HISTORY), owner);
  }

  /// Subscribes to the task again, or polls it.
  A2aReply reconnect() throws A2aFailure, InterruptedException {
    if (lastEventId.isEmpty()) {
      markUnreliable();
    }
    for (var failures = 0; ; ) {
      try {
        if (polls || !client.canStream(owner)) {
          client.pause(Math.max(1, emptyReads));
          return new A2aReply.SingleReply(fetchTask());
        }
        client.pause(Math.max(failures, emptyReads));
        resumed = true;
        return client.open(
            new A2aRequest.SubscribeToTask(String.valueOf(remoteState.task), lastEventId), owner);
      } catch (A2aFailure a2aFailure) {
        if (!polls && a2aFailure.is(A2aError.UNSUPPORTED_OPERATION, A2aError.METHOD_NOT_FOUND)) {
          // An ended task cannot be subscribed to, either.
          polls = true;
          markUnreliable();
        } else if (!a2aFailure.retryable() || ++failures == FAILURES_MAX) {
          throw a2aFailure;
        }
      }
    }
  }
}
