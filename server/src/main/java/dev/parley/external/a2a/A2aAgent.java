package dev.parley.external.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.agent.ConversationMemory;
import dev.parley.auth.SignInRequests;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import dev.parley.tool.Credentials;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A remote agent that speaks Agent2Agent (A2A), version 1.0 or 0.3.
///
/// Its output is written to the log of the local task, together with the remote ids. The remote
/// task continues while this server is stopped, and is resumed where the log ends.
public final class A2aAgent implements Agent {

  private static final System.Logger LOG = System.getLogger(A2aAgent.class.getName());
  private static final Duration CANCEL_WAIT = Duration.ofSeconds(3);
  private static final int CANCELS_MAX = 3;
  private static final int TASKS_MAX = 50;
  private static final int PAGE = 1_000;

  /// The dependencies that all remote agents share; `patience` is how long to wait for a person.
  public record A2aAgentDependencies(
      OutgoingHttpClient http,
      EventLog log,
      ConversationMemory memory,
      Duration patience,
      SignInRequests desk,
      Credentials credentials,
      Time time,
      Threads threads) {}

  private final A2aAgentDependencies a2aAgentDependencies;
  private final A2aClient client;

  public A2aAgent(A2aRemoteSettings settings, A2aAgentDependencies a2aAgentDependencies) {
    this.a2aAgentDependencies = a2aAgentDependencies;
    this.client =
        new A2aClient(
            settings,
            a2aAgentDependencies.http(),
            a2aAgentDependencies.credentials(),
            a2aAgentDependencies.time());
  }

  /// Fetches an agent's card and returns the address of the interface to use.
  ///
  /// @throws IOException if there is no card, or the agent cannot be used as configured
  public static URI endpoint(A2aRemoteSettings settings, OutgoingHttpClient http, Time time)
      throws IOException, InterruptedException {
    var agentCardCache =
        new AgentCardCache(settings, new A2aConnection(settings, http, Credentials.none()), time);
    try {
      return agentCardCache.current("local").chooseEndpoint(settings).url();
    } catch (A2aFailure a2aFailure) {
      throw new IOException(a2aFailure.getMessage());
    }
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    return new RemoteTaskRun(taskRun, client, a2aAgentDependencies).work();
  }

  @Override
  public Optional<ResourceRelease> release() {
    return Optional.of(this::cancel);
  }

  @Override
  public Optional<RemoteQuestionCheck> remoteQuestionCheck() {
    return Optional.of(this::whySettled);
  }

  /// The reason why an open question is obsolete: the remote task no longer asks it.
  private Optional<String> whySettled(ContextId context, TaskId task) throws InterruptedException {
    var story = remoteState(context, task);
    if (story.task == null || !story.acknowledged || !story.waitsForPerson()) {
      return Optional.empty();
    }
    try {
      var now =
          client.task(
              new A2aRequest.GetTask(story.task, 0), a2aAgentDependencies.log().owner(context));
      return RemoteQuestionMapper.asksStill(story, now.status())
          ? Optional.empty()
          : Optional.of(RemoteTaskState.SETTLED);
    } catch (A2aFailure a2aFailure) {
      return a2aFailure.is(A2aError.TASK_NOT_FOUND)
          ? Optional.of(RemoteTaskState.SETTLED)
          : Optional.empty();
    }
  }

  /// Cancels the remote task and waits briefly for the result.
  private void cancel(ContextId context, TaskId task) throws InterruptedException {
    var story = remoteState(context, task);
    if (story.sentMessageId == null
        || story.ended != null
        || (story.acknowledged && story.task == null)) {
      return;
    }
    var owner = a2aAgentDependencies.log().owner(context);
    var canceling =
        a2aAgentDependencies
            .threads()
            .start(
                "cancel-" + task,
                () -> {
                  try {
                    cancel(story, owner);
                  } catch (A2aFailure a2aFailure) {
                    LOG.log(
                        System.Logger.Level.WARNING,
                        "task {0} of context {1} could not be canceled at {2}: {3}",
                        task,
                        context,
                        client.settings().url(),
                        a2aFailure.message());
                  } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                  }
                });
    var _ = canceling.join(CANCEL_WAIT);
  }

  private void cancel(RemoteTaskState story, String owner) throws A2aFailure, InterruptedException {
    for (var attempt = 1; ; attempt++) {
      try {
        var task = story.acknowledged || story.answered != null ? story.task : find(story, owner);
        if (task != null) {
          client.task(new A2aRequest.CancelTask(task), owner);
        }
        return;
      } catch (A2aFailure a2aFailure) {
        if (a2aFailure.kind() == A2aFailure.A2aFailureKind.REFUSED) {
          // It has ended, or cannot be canceled.
          return;
        }
        if (attempt == CANCELS_MAX) {
          throw a2aFailure;
        }
        client.pause(attempt);
      }
    }
  }

  /// The remote task of a message that was not acknowledged.
  private @Nullable String find(RemoteTaskState story, String owner)
      throws A2aFailure, InterruptedException {
    return client.canListTasks(owner)
        ? client.listTasks(new A2aRequest.ListTasks(TASKS_MAX, TASKS_MAX), owner).stream()
            .filter(
                task -> RemoteTaskRun.containsMessage(task, String.valueOf(story.sentMessageId)))
            .map(task -> task.id())
            .findFirst()
            .orElse(null)
        : null;
  }

  private RemoteTaskState remoteState(ContextId context, TaskId task) {
    var story = new RemoteTaskState();
    var begun =
        a2aAgentDependencies
            .log()
            .inspect(context, state -> state.openTask(task).map(OpenTask::createdSeq));
    if (begun.isEmpty()) {
      return story;
    }
    var position = Position.of(begun.get());
    for (var page = a2aAgentDependencies.log().read(context, position, PAGE);
        !page.isEmpty();
        page = a2aAgentDependencies.log().read(context, position, PAGE)) {
      story.read(page.stream().filter(entry -> task.equals(entry.taskId())).toList());
      position = page.getLast().position();
    }
    return story;
  }
}
