package dev.parley.a2a.remote;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.SendRequest;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireRole;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireTask;
import dev.parley.a2a.remote.Peer.Reply;
import dev.parley.cli.Errand;
import dev.parley.cli.Sessions;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One run of a task on a remote agent: from the state in the log until the task ends or needs a
/// person. For one thread.
final class Visit {

  private static final Sessions.Skills SKILLS = new Sessions.Skills(true, false, true);
  private static final int SENDS_MAX = 4;
  private static final int DOUBTS_MAX = 3;
  private static final int ANSWERS_MAX = 5;
  private static final int LOOKED_AT = 50;

  private final Run run;
  private final Peer peer;
  private final A2aAgent.Parts parts;
  private final Sessions sessions;
  private final RemoteStory story = new RemoteStory();
  private final Teller teller;
  private final Watch watch;
  private int answers;

  Visit(Run run, Peer peer, A2aAgent.Parts parts) {
    this.run = run;
    this.peer = peer;
    this.parts = parts;
    this.sessions = new Sessions(parts.log(), parts.memory());
    this.teller = new Teller(run, story, program());
    this.watch = new Watch(peer, story, teller, run.owner());
  }

  /// The key of this agent's sessions.
  private String program() {
    return "a2a " + peer.settings().url();
  }

  Outcome work() throws InterruptedException {
    try {
      recall();
      return go();
    } catch (Trouble trouble) {
      teller.flush();
      return trouble.outcome(peer.settings().url().toString());
    } catch (Rejection.TooLarge limit) {
      return new Outcome.Failed(ErrorCode.LIMIT, String.valueOf(limit.getMessage()), false);
    }
  }

  /// Restores the state from the task's entries, including its text.
  ///
  /// An answer may be appended between the two reads: then only the second one has it.
  private void recall() {
    var entries = new ArrayList<Entry>(run.look(this::isOwn));
    var last = entries.stream().map(Entry::position).max(Comparator.naturalOrder());
    run.news().stream()
        .filter(
            e ->
                isOwn(e)
                    ? last.isEmpty() || e.position().after(last.get())
                    : e.event() instanceof Message)
        .forEach(entries::add);
    entries.sort(Comparator.comparing(Entry::position));
    entries.forEach(entry -> story.add(entry.event()));
  }

  private boolean isOwn(Entry entry) {
    return run.origin().taskId().equals(entry.taskId());
  }

  private Outcome go() throws Trouble, InterruptedException {
    for (var doubts = 0; ; ) {
      if (story.ended == WireState.COMPLETED && story.unheard().isEmpty()) {
        return completed();
      }
      if (story.waits() && story.unheard().isEmpty()) {
        return parked();
      }
      if (story.waits()) {
        lapse();
      }
      var doubted = story.sent != null && !story.heard;
      try {
        var state = watch.follow(next());
        var failed = state == null ? null : settle(state);
        if (failed != null) {
          return failed;
        }
        if (state == null && ++doubts > DOUBTS_MAX) {
          throw unknown();
        }
      } catch (Trouble trouble) {
        // It is not known whether the message arrived.
        var open = trouble.kind() == Trouble.Kind.LOST || (doubted && trouble.passing());
        if (story.heard || !open || ++doubts > DOUBTS_MAX) {
          throw trouble;
        }
        Watch.pause(doubts);
      }
      run.news().forEach(entry -> story.hear(entry.event()));
    }
  }

  /// Takes the next step and returns its response.
  private Reply next() throws Trouble, InterruptedException {
    if (story.sent == null) {
      return begin();
    }
    if (!story.heard) {
      return doubted();
    }
    if (story.asks()) {
      return answer();
    }
    if (story.ended == WireState.COMPLETED) {
      return goOn();
    }
    return watch.again();
  }

  private Reply begin() throws Trouble, InterruptedException {
    var errand = sessions.first(run, SKILLS, program());
    try {
      return begin(errand, run.sources().ids().get());
    } catch (Trouble refused) {
      if (errand.resume() != null
          && refused.is(
              A2aError.TASK_NOT_FOUND, A2aError.INVALID_PARAMS, A2aError.INVALID_REQUEST)) {
        // The agent no longer knows the context: send the history from the log.
        return begin(sessions.fresh(run), run.sources().ids().get());
      }
      throw refused;
    }
  }

  private Reply begin(Errand errand, String id) throws Trouble, InterruptedException {
    var resume = errand.resume();
    note(id, 0, null, resume == null ? null : resume.session());
    return send(first(errand, id));
  }

  private static WireMessage first(Errand errand, String id) {
    return new WireMessage(
        id,
        errand.resume() == null ? null : errand.resume().session(),
        null,
        WireRole.USER,
        List.of(WirePart.text(errand.prompt())),
        null);
  }

  /// Sends the messages that users sent while the agent was working.
  private Reply goOn() throws Trouble, InterruptedException {
    var id = run.sources().ids().get();
    note(id, story.unheardCount(), null, story.context);
    return send(more(id));
  }

  private WireMessage more(String id) {
    return new WireMessage(
        id,
        story.context,
        null,
        WireRole.USER,
        List.of(WirePart.text(story.unheard().orElse(""))),
        null,
        List.of(),
        story.previous == null ? List.of() : List.of(story.previous));
  }

  private Reply answer() throws Trouble, InterruptedException {
    if (++answers > ANSWERS_MAX) {
      throw Trouble.unusable("it does not accept any answer to its question");
    }
    var id = run.sources().ids().get();
    var name = story.questions.values().iterator().next().about().path(Inquiry.NAME).asString("");
    note(id, story.unheardCount(), name, story.context);
    return answer(id);
  }

  private Reply answer(String id) throws Trouble, InterruptedException {
    try {
      return send(Replies.of(story, id, story.unheard().orElse(null)));
    } catch (Trouble refused) {
      return refusedAnswer(refused);
    }
  }

  /// Handles a rejected answer: the agent may have continued without it. If it still waits, the
  /// rejection is final.
  private Reply refusedAnswer(Trouble refused) throws Trouble, InterruptedException {
    if (refused.kind() != Trouble.Kind.REFUSED || story.task == null) {
      throw refused;
    }
    var now = peer.task(new Ask.Get(story.task, LOOKED_AT), run.owner());
    var same = Watch.isAnswered(now.status(), story.answered);
    if (now.status().state() == WireState.INPUT_REQUIRED && same) {
      throw refused;
    }
    // The agent may have noticed a sign-in by itself, and it may now ask for more than was
    // answered.
    story.refused =
        now.status().state() == WireState.INPUT_REQUIRED
            && story.questions.values().stream().anyMatch(Inquiry::isApproval);
    watch.distrust();
    return new Reply.One(now);
  }

  /// Finds out whether an unacknowledged message was sent, and sends it again if it was not.
  private Reply doubted() throws Trouble, InterruptedException {
    watch.distrust();
    var id = String.valueOf(story.sent);
    if (story.answered != null && story.task != null) {
      var now = peer.task(new Ask.Get(story.task, LOOKED_AT), run.owner());
      var waits =
          now.status().state().interrupted()
              && (story.answered.isEmpty() || Watch.isAnswered(now.status(), story.answered));
      return arrived(now, id) || !waits ? new Reply.One(now) : answer(id);
    }
    if (!peer.lists(run.owner())) {
      throw unknown();
    }
    var latest = peer.latest(new Ask.Latest(LOOKED_AT, LOOKED_AT), run.owner());
    for (var task : latest) {
      if (arrived(task, id)) {
        return new Reply.One(peer.task(new Ask.Get(task.id(), LOOKED_AT), run.owner()));
      }
    }
    if (latest.stream().anyMatch(task -> task.history() == null || task.history().isEmpty())) {
      throw unknown();
    }
    return send(story.telling > 0 ? more(id) : first(sessions.first(run, SKILLS, program()), id));
  }

  private static Trouble unknown() {
    return Trouble.unknown(
        "the connection or this server failed while the task was being sent, and it does not"
            + " report whether it started the task");
  }

  static boolean arrived(WireTask task, String id) {
    return task.history() != null
        && task.history().stream().anyMatch(message -> message.messageId().equals(id));
  }

  private void note(String id, int told, @Nullable String answers, @Nullable String session) {
    var state = Json.object();
    var about = state.putObject(RemoteStory.STATE).put(RemoteStory.MESSAGE, id);
    about.put(RemoteStory.TOLD, told);
    if (answers != null) {
      about.put(RemoteStory.ANSWERS, answers);
    }
    if (session != null) {
      state.set(Sessions.STATE, Sessions.resuming(session));
    }
    teller.add(new InternalCheckpoint(0, state));
    teller.flush();
    teller.turn();
  }

  /// Sends a message; retries if it certainly did not arrive.
  private Reply send(WireMessage message) throws Trouble, InterruptedException {
    for (var attempt = 1; ; attempt++) {
      try {
        var streams = peer.streams(run.owner());
        var request = new SendRequest(message, List.of(), null, false, null, null, null);
        run.reach("a2a-send");
        return peer.follow(new Ask.Send(request, streams), run.owner());
      } catch (Trouble trouble) {
        if (trouble.kind() != Trouble.Kind.UNREACHABLE || attempt == SENDS_MAX) {
          throw trouble;
        }
        Watch.pause(attempt);
      }
    }
  }

  /// Writes the state that the agent has reached. Returns null if there is more to do, else the
  /// failure.
  private Outcome.@Nullable Failed settle(WireState state) throws Trouble, InterruptedException {
    var words =
        teller.status().message() == null
            ? ""
            : Teller.words(teller.status().message().parts()).strip();
    return switch (state) {
      case COMPLETED -> {
        teller.finish();
        teller.flush();
        yield null;
      }
      case INPUT_REQUIRED, AUTH_REQUIRED -> {
        teller.pause();
        var inquiry = new Inquiry(run, story, peer.settings(), parts.patience(), parts.desk());
        inquiry.ask(teller.status()).forEach(teller::add);
        teller.flush();
        yield null;
      }
      case FAILED -> failed(ErrorCode.MODEL_ERROR, words.isEmpty() ? "it failed" : words, true);
      case REJECTED -> failed(ErrorCode.REJECTED, "it rejected the task: " + words, false);
      case CANCELED -> failed(ErrorCode.INTERRUPTED, "its task was canceled: " + words, true);
      case SUBMITTED, WORKING, UNKNOWN -> throw new IllegalStateException("not at an end");
    };
  }

  private Outcome.Failed failed(ErrorCode code, String said, boolean retryable) {
    teller.note(Json.object().put(RemoteStory.ENDED, teller.status().state().kebab()));
    teller.flush();
    return new Outcome.Failed(
        code, "the agent behind " + peer.settings().url() + ": " + said, retryable);
  }

  private Outcome completed() {
    var result = Json.object();
    var remote = result.putObject("remote");
    if (story.task != null) {
      remote.put(RemoteStory.TASK, story.task);
    }
    if (story.context != null) {
      remote.put(RemoteStory.CONTEXT, story.context);
    }
    if (!teller.earlyEnd().isEmpty()) {
      result.put("finishReason", teller.earlyEnd());
    }
    if (teller.earlyEnd().equals("length")) {
      result.put("truncated", true);
    }
    return new Outcome.Completed(story.told.answer(), result);
  }

  private Outcome parked() {
    var metadata = Json.object().put("blockedBy", "user");
    var inputs = metadata.putArray("inputIds");
    story.questions.forEach(
        (id, question) -> {
          if (question.open() && !question.signIn()) {
            inputs.add(id);
          }
        });
    return new Outcome.Parked(
        inputs.isEmpty() ? TaskState.WAITING_AUTH : TaskState.WAITING_INPUT, metadata);
  }

  /// Expires the open questions because a message replaces their answers.
  private void lapse() {
    run.emit(
        state -> {
          var lapsed = new ArrayList<Event>();
          state.openInputs().stream()
              .filter(open -> open.task().equals(run.origin().taskId()))
              .forEach(
                  open -> lapsed.add(new InputLapsed(open.required().inputId(), "superseded")));
          state.openAuths().stream()
              .filter(open -> open.task().equals(run.origin().taskId()))
              .forEach(open -> lapsed.add(new AuthLapsed(open.required().authId(), "superseded")));
          return lapsed;
        });
    run.news().forEach(entry -> story.hear(entry.event()));
  }
}
