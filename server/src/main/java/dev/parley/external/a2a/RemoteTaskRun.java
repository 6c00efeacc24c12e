package dev.parley.external.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.SendMessageRequest;
import dev.parley.external.a2a.A2aClient.A2aReply;
import dev.parley.external.cli.ExternalSessions;
import dev.parley.external.cli.ProgramRequest;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One run of a task on a remote agent: from the state in the log until the task ends or needs a
/// person. For one thread.
final class RemoteTaskRun {

  private static final ExternalSessions.SessionSupport SKILLS =
      new ExternalSessions.SessionSupport(true, false, true);
  private static final int SENDS_MAX = 4;
  private static final int UNCERTAIN_SENDS_MAX = 3;
  private static final int ANSWERS_MAX = 5;
  private static final int TASKS_MAX = 50;

  private final TaskRun taskRun;
  private final A2aClient client;
  private final A2aAgent.A2aAgentDependencies a2aAgentDependencies;
  private final ExternalSessions externalSessions;
  private final RemoteTaskState remoteState = new RemoteTaskState();
  private final RemoteEventWriter writer;
  private final RemoteTaskFollower follower;
  private int answers;

  RemoteTaskRun(
      TaskRun taskRun, A2aClient a2aClient, A2aAgent.A2aAgentDependencies a2aAgentDependencies) {
    this.taskRun = taskRun;
    this.client = a2aClient;
    this.a2aAgentDependencies = a2aAgentDependencies;
    this.externalSessions =
        new ExternalSessions(a2aAgentDependencies.log(), a2aAgentDependencies.memory());
    this.writer = new RemoteEventWriter(taskRun, remoteState, program());
    this.follower = new RemoteTaskFollower(a2aClient, remoteState, writer, taskRun.owner());
  }

  /// The key of this agent's sessions.
  private String program() {
    return "a2a " + client.settings().url();
  }

  TaskOutcome work() throws InterruptedException {
    try {
      restoreState();
      return workUntilDone();
    } catch (A2aFailure a2aFailure) {
      writer.flush();
      return a2aFailure.outcome(client.settings().url().toString());
    } catch (Rejection.TooLarge limit) {
      return new TaskOutcome.Failed(ErrorCode.LIMIT, String.valueOf(limit.getMessage()), false);
    }
  }

  /// Restores the state from the task's entries, including its text.
  ///
  /// An answer may be appended between the two reads: then only the second one has it.
  private void restoreState() {
    var entries = new ArrayList<Entry>(taskRun.findEntries(this::isOwn));
    var last = entries.stream().map(Entry::position).max(Comparator.naturalOrder());
    taskRun.readNewEntries().stream()
        .filter(
            e ->
                isOwn(e)
                    ? last.isEmpty() || e.position().after(last.get())
                    : e.event() instanceof Message)
        .forEach(entries::add);
    entries.sort(Comparator.comparing(Entry::position));
    remoteState.read(entries);
  }

  private boolean isOwn(Entry entry) {
    return taskRun.origin().taskId().equals(entry.taskId());
  }

  private TaskOutcome workUntilDone() throws A2aFailure, InterruptedException {
    for (var doubts = 0; ; ) {
      if (remoteState.ended == A2aState.COMPLETED && remoteState.messageText().isEmpty()) {
        return completed();
      }
      if (remoteState.waitsForPerson() && remoteState.messageText().isEmpty()) {
        return parked();
      }
      if (remoteState.waitsForPerson()) {
        expireQuestions();
      }
      var doubted = remoteState.sentMessageId != null && !remoteState.acknowledged;
      try {
        var state = follower.follow(next());
        var failed = state == null ? null : applyState(state);
        if (failed != null) {
          return failed;
        }
        if (state == null && ++doubts > UNCERTAIN_SENDS_MAX) {
          throw unknown();
        }
      } catch (A2aFailure a2aFailure) {
        // It is not known whether the message arrived.
        var open =
            a2aFailure.kind() == A2aFailure.A2aFailureKind.LOST
                || (doubted && a2aFailure.retryable());
        if (remoteState.acknowledged || !open || ++doubts > UNCERTAIN_SENDS_MAX) {
          throw a2aFailure;
        }
        client.pause(doubts);
      }
      remoteState.applyExternal(taskRun.readNewEntries());
    }
  }

  /// Takes the next step and returns its response.
  private A2aReply next() throws A2aFailure, InterruptedException {
    if (remoteState.sentMessageId == null) {
      return sendFirst();
    }
    if (!remoteState.acknowledged) {
      return resolveUncertainSend();
    }
    if (!remoteState.questions().isEmpty()) {
      return sendAnswer();
    }
    if (remoteState.ended == A2aState.COMPLETED) {
      return sendFollowUp();
    }
    return follower.reconnect();
  }

  private A2aReply sendFirst() throws A2aFailure, InterruptedException {
    var programRequest = externalSessions.firstRequest(taskRun, SKILLS, program());
    try {
      return sendFirst(programRequest, taskRun.sources().ids().get());
    } catch (A2aFailure refused) {
      if (programRequest.resume() != null
          && refused.is(
              A2aError.TASK_NOT_FOUND, A2aError.INVALID_PARAMS, A2aError.INVALID_REQUEST)) {
        // The agent no longer knows the context: send the history from the log.
        return sendFirst(externalSessions.freshRequest(taskRun), taskRun.sources().ids().get());
      }
      throw refused;
    }
  }

  private A2aReply sendFirst(ProgramRequest programRequest, String id)
      throws A2aFailure, InterruptedException {
    var resumedSession = programRequest.resume();
    writeSendCheckpoint(id, 0, null, resumedSession == null ? null : resumedSession.session());
    return send(firstMessage(programRequest, id));
  }

  private static A2aMessage firstMessage(ProgramRequest programRequest, String id) {
    return new A2aMessage(
        id,
        programRequest.resume() == null ? null : programRequest.resume().session(),
        null,
        A2aRole.USER,
        List.of(A2aPart.text(programRequest.prompt())),
        null);
  }

  /// Sends the messages that users sent while the agent was working.
  private A2aReply sendFollowUp() throws A2aFailure, InterruptedException {
    var id = taskRun.sources().ids().get();
    writeSendCheckpoint(id, remoteState.messages().size(), null, remoteState.context);
    return send(followUpMessage(id));
  }

  private A2aMessage followUpMessage(String id) {
    return new A2aMessage(
        id,
        remoteState.context,
        null,
        A2aRole.USER,
        List.of(A2aPart.text(remoteState.messageText().orElse(""))),
        null,
        List.of(),
        remoteState.previous == null ? List.of() : List.of(remoteState.previous));
  }

  private A2aReply sendAnswer() throws A2aFailure, InterruptedException {
    if (++answers > ANSWERS_MAX) {
      throw A2aFailure.unusable("it does not accept any answer to its question");
    }
    var id = taskRun.sources().ids().get();
    var first = remoteState.questions().values().iterator().next();
    var name = RemoteQuestionMapper.field(first, RemoteQuestionMapper.MESSAGE_ID).asString("");
    writeSendCheckpoint(id, remoteState.messages().size(), name, remoteState.context);
    return sendAnswer(id);
  }

  private A2aReply sendAnswer(String id) throws A2aFailure, InterruptedException {
    try {
      return send(
          RemoteAnswers.answerMessage(remoteState, id, remoteState.messageText().orElse(null)));
    } catch (A2aFailure refused) {
      return refusedAnswer(refused);
    }
  }

  /// Handles a rejected answer: the agent may have continued without it. If it still waits, the
  /// rejection is final.
  private A2aReply refusedAnswer(A2aFailure refused) throws A2aFailure, InterruptedException {
    if (refused.kind() != A2aFailure.A2aFailureKind.REFUSED || remoteState.task == null) {
      throw refused;
    }
    var now = client.task(new A2aRequest.GetTask(remoteState.task, TASKS_MAX), taskRun.owner());
    var same = RemoteTaskFollower.isAnswered(now.status(), remoteState.answered);
    if (now.status().state() == A2aState.INPUT_REQUIRED && same) {
      throw refused;
    }
    // The agent may have noticed a sign-in by itself, and it may now ask for more than was
    // answered.
    remoteState.refused =
        now.status().state() == A2aState.INPUT_REQUIRED
            && remoteState.questions().values().stream().anyMatch(RemoteQuestionMapper::isApproval);
    follower.markUnreliable();
    return new A2aReply.SingleReply(now);
  }

  /// Finds out whether an unacknowledged message was sent, and sends it again if it was not.
  private A2aReply resolveUncertainSend() throws A2aFailure, InterruptedException {
    follower.markUnreliable();
    var id = String.valueOf(remoteState.sentMessageId);
    if (remoteState.answered != null && remoteState.task != null) {
      var now = client.task(new A2aRequest.GetTask(remoteState.task, TASKS_MAX), taskRun.owner());
      var waits =
          now.status().state().interrupted()
              && (remoteState.answered.isEmpty()
                  || RemoteTaskFollower.isAnswered(now.status(), remoteState.answered));
      return containsMessage(now, id) || !waits ? new A2aReply.SingleReply(now) : sendAnswer(id);
    }
    if (!client.canListTasks(taskRun.owner())) {
      throw unknown();
    }
    var latest = client.listTasks(new A2aRequest.ListTasks(TASKS_MAX, TASKS_MAX), taskRun.owner());
    for (var task : latest) {
      if (containsMessage(task, id)) {
        return new A2aReply.SingleReply(
            client.task(new A2aRequest.GetTask(task.id(), TASKS_MAX), taskRun.owner()));
      }
    }
    if (latest.stream().anyMatch(task -> task.history() == null || task.history().isEmpty())) {
      throw unknown();
    }
    return send(
        remoteState.sendingCount > 0
            ? followUpMessage(id)
            : firstMessage(externalSessions.firstRequest(taskRun, SKILLS, program()), id));
  }

  private static A2aFailure unknown() {
    return A2aFailure.unknown(
        "the connection or this server failed while the task was being sent, and it does not"
            + " report whether it started the task");
  }

  static boolean containsMessage(A2aTask task, String id) {
    return task.history() != null
        && task.history().stream().anyMatch(message -> message.messageId().equals(id));
  }

  private void writeSendCheckpoint(
      String id, int told, @Nullable String answers, @Nullable String session) {
    var state = Json.object();
    var about = state.putObject(RemoteTaskState.STATE).put(RemoteTaskState.MESSAGE, id);
    about.put(RemoteTaskState.SENT_COUNT, told);
    if (answers != null) {
      about.put(RemoteTaskState.ANSWERS, answers);
    }
    if (session != null) {
      state.set(ExternalSessions.STATE, ExternalSessions.resumingState(session));
    }
    writer.add(new InternalCheckpoint(0, state));
    writer.flush();
    writer.resetStatus();
  }

  /// Sends a message; retries if it certainly did not arrive.
  private A2aReply send(A2aMessage message) throws A2aFailure, InterruptedException {
    for (var attempt = 1; ; attempt++) {
      try {
        var streams = client.canStream(taskRun.owner());
        var request = new SendMessageRequest(message, List.of(), null, false, null, null, null);
        taskRun.reachFailPoint("a2a-send");
        return client.open(new A2aRequest.SendMessage(request, streams), taskRun.owner());
      } catch (A2aFailure a2aFailure) {
        if (a2aFailure.kind() != A2aFailure.A2aFailureKind.UNREACHABLE || attempt == SENDS_MAX) {
          throw a2aFailure;
        }
        client.pause(attempt);
      }
    }
  }

  /// Writes the state that the agent has reached. Returns null if there is more to do, else the
  /// failure.
  private TaskOutcome.@Nullable Failed applyState(A2aState state)
      throws A2aFailure, InterruptedException {
    var words =
        writer.status().message() == null
            ? ""
            : RemoteEventWriter.textOf(writer.status().message().parts()).strip();
    return switch (state) {
      case COMPLETED -> {
        writer.finish();
        writer.flush();
        yield null;
      }
      case INPUT_REQUIRED, AUTH_REQUIRED -> {
        writer.endTexts();
        var remoteQuestionMapper =
            new RemoteQuestionMapper(
                taskRun,
                remoteState,
                client.settings(),
                a2aAgentDependencies.patience(),
                a2aAgentDependencies.desk());
        remoteQuestionMapper.questionEvents(writer.status()).forEach(writer::add);
        writer.flush();
        yield null;
      }
      case FAILED -> failed(ErrorCode.MODEL_ERROR, words.isEmpty() ? "it failed" : words, true);
      case REJECTED -> failed(ErrorCode.REJECTED, "it rejected the task: " + words, false);
      case CANCELED -> failed(ErrorCode.INTERRUPTED, "its task was canceled: " + words, true);
      case SUBMITTED, WORKING, UNKNOWN -> throw new IllegalStateException("not at an end");
    };
  }

  private TaskOutcome.Failed failed(ErrorCode code, String said, boolean retryable) {
    writer.addCheckpoint(Json.object().put(RemoteTaskState.ENDED, writer.status().state().kebab()));
    writer.flush();
    return new TaskOutcome.Failed(
        code, "the agent behind " + client.settings().url() + ": " + said, retryable);
  }

  private TaskOutcome completed() {
    var result = Json.object();
    var remote = result.putObject("remote");
    if (remoteState.task != null) {
      remote.put(RemoteTaskState.TASK, remoteState.task);
    }
    if (remoteState.context != null) {
      remote.put(RemoteTaskState.CONTEXT, remoteState.context);
    }
    writer.earlyEnd().ifPresent(early -> early.put(result));
    return new TaskOutcome.Completed(remoteState.written.answer(), result);
  }

  private TaskOutcome parked() {
    var inputs = remoteState.openInputs();
    return new TaskOutcome.Parked(
        inputs.isEmpty() ? TaskState.WAITING_AUTH : TaskState.WAITING_INPUT,
        StatusFacts.ofWaiting(inputs));
  }

  /// Expires the open questions because a message replaces their answers.
  private void expireQuestions() {
    taskRun.emit(
        state -> {
          var lapsed = new ArrayList<Event>();
          state.openInputs().stream()
              .filter(open -> open.task().equals(taskRun.origin().taskId()))
              .forEach(
                  open -> lapsed.add(new InputLapsed(open.required().inputId(), "superseded")));
          state.openAuths().stream()
              .filter(open -> open.task().equals(taskRun.origin().taskId()))
              .forEach(open -> lapsed.add(new AuthLapsed(open.required().authId(), "superseded")));
          return lapsed;
        });
    remoteState.applyExternal(taskRun.readNewEntries());
  }
}
