package dev.parley.a2a.remote;

import dev.parley.a2a.A2aError;
import dev.parley.agent.Memory;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.proxy.Remote;
import dev.parley.task.Agent;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.tool.Credentials;
import dev.parley.vault.SignInDesk;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A remote agent that speaks Agent2Agent (A2A), version 1.0 or 0.3.
///
/// Its output is written to the log of the local task, together with the remote ids. The remote
/// task continues while this server is stopped, and is resumed where the log ends.
public final class A2aAgent implements Agent {

  private static final System.Logger LOG = System.getLogger(A2aAgent.class.getName());
  private static final Duration CANCEL_WAIT = Duration.ofSeconds(3);
  private static final int CANCELS_MAX = 3;
  private static final int LOOKED_AT = 50;
  private static final int PAGE = 1_000;

  /// The dependencies that all remote agents share; `patience` is how long to wait for a person.
  public record Parts(
      Remote http,
      EventLog log,
      Memory memory,
      Duration patience,
      SignInDesk desk,
      Credentials credentials,
      InstantSource clock) {}

  private final Parts parts;
  private final Peer peer;

  public A2aAgent(RemoteSettings settings, Parts parts) {
    this.parts = parts;
    this.peer = new Peer(settings, parts.http(), parts.credentials(), parts.clock());
  }

  /// Fetches an agent's card and returns the address of the interface to use.
  ///
  /// @throws IOException if there is no card, or the agent cannot be used as configured
  public static URI endpoint(RemoteSettings settings, Remote http, InstantSource clock)
      throws IOException, InterruptedException {
    var cards = new Cards(settings, new Line(settings, http, Credentials.none()), clock);
    try {
      return cards.current("local").choose(settings).url();
    } catch (Trouble trouble) {
      throw new IOException(trouble.getMessage());
    }
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public Outcome work(Run run) throws InterruptedException {
    return new Visit(run, peer, parts).work();
  }

  @Override
  public Optional<Release> release() {
    return Optional.of(this::cancel);
  }

  @Override
  public Optional<Lookout> lookout() {
    return Optional.of(this::settled);
  }

  /// The reason why an open question is obsolete: the remote task no longer asks it.
  private Optional<String> settled(ContextId context, TaskId task) throws InterruptedException {
    var story = story(context, task);
    if (story.task == null || !story.heard || !story.waits()) {
      return Optional.empty();
    }
    try {
      var now = peer.task(new Ask.Get(story.task, 0), parts.log().owner(context));
      return story.asks(now.status()) ? Optional.empty() : Optional.of(RemoteStory.SETTLED);
    } catch (Trouble trouble) {
      return trouble.is(A2aError.TASK_NOT_FOUND)
          ? Optional.of(RemoteStory.SETTLED)
          : Optional.empty();
    }
  }

  /// Cancels the remote task and waits briefly for the result.
  private void cancel(ContextId context, TaskId task) throws InterruptedException {
    var story = story(context, task);
    if (story.sent == null || story.ended != null || (story.heard && story.task == null)) {
      return;
    }
    var owner = parts.log().owner(context);
    var done = new CountDownLatch(1);
    Thread.ofVirtual()
        .name("cancel-" + task)
        .start(
            () -> {
              try {
                cancel(story, owner);
              } catch (Trouble trouble) {
                LOG.log(
                    System.Logger.Level.WARNING,
                    "task {0} of context {1} could not be canceled at {2}: {3}",
                    task,
                    context,
                    peer.settings().url(),
                    trouble.said());
              } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
              } finally {
                done.countDown();
              }
            });
    var _ = done.await(CANCEL_WAIT.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void cancel(RemoteStory story, String owner) throws Trouble, InterruptedException {
    for (var attempt = 1; ; attempt++) {
      try {
        var task = story.heard || story.answered != null ? story.task : find(story, owner);
        if (task != null) {
          peer.task(new Ask.Cancel(task), owner);
        }
        return;
      } catch (Trouble trouble) {
        if (trouble.kind() == Trouble.Kind.REFUSED) {
          // It has ended, or cannot be canceled.
          return;
        }
        if (attempt == CANCELS_MAX) {
          throw trouble;
        }
        Watch.pause(attempt);
      }
    }
  }

  /// The remote task of a message that was not acknowledged.
  private @Nullable String find(RemoteStory story, String owner)
      throws Trouble, InterruptedException {
    return peer.lists(owner)
        ? peer.latest(new Ask.Latest(LOOKED_AT, LOOKED_AT), owner).stream()
            .filter(task -> Visit.arrived(task, String.valueOf(story.sent)))
            .map(task -> task.id())
            .findFirst()
            .orElse(null)
        : null;
  }

  private RemoteStory story(ContextId context, TaskId task) {
    var story = new RemoteStory();
    var begun =
        parts.log().inspect(context, state -> state.openTask(task).map(OpenTask::createdSeq));
    if (begun.isEmpty()) {
      return story;
    }
    var position = Position.of(begun.get());
    for (var page = parts.log().read(context, position, PAGE);
        !page.isEmpty();
        page = parts.log().read(context, position, PAGE)) {
      page.stream()
          .filter(entry -> task.equals(entry.taskId()))
          .forEach(entry -> story.add(entry.event()));
      position = page.getLast().position();
    }
    return story;
  }
}
