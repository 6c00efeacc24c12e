package dev.parley.embed;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import dev.parley.task.Agent;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.tool.PlatformThreads;
import java.time.Duration;
import java.util.Optional;

/// Runs the code of a custom agent on platform threads, so that an endless computation cannot stop
/// the server.
public final class IsolatedAgent implements Agent {

  private final AgentTypeId id;
  private final Agent agent;
  private final PlatformThreads threads;
  private final Duration grace;

  /// `grace` is how long the agent may take to stop.
  public IsolatedAgent(AgentTypeId id, Agent agent, PlatformThreads threads, Duration grace) {
    this.id = id;
    this.agent = agent;
    this.threads = threads;
    this.grace = grace;
  }

  @Override
  public Outcome work(Run run) throws InterruptedException {
    return run("task-" + run.origin().taskId(), () -> agent.work(run));
  }

  private <T> T run(String thread, PlatformThreads.Work<T> work) throws InterruptedException {
    try {
      return threads.work(id.value(), thread, grace, work);
    } catch (PlatformThreads.LeftBehind stuck) {
      // The agent was asked to stop; the code that stopped it writes the task's end.
      throw new InterruptedException(stuck.getMessage());
    }
  }

  @Override
  public boolean resumes() {
    return agent.resumes();
  }

  @Override
  public Optional<Release> release() {
    return agent
        .release()
        .map(
            release ->
                (ContextId context, TaskId task) ->
                    run(
                        "release-" + task,
                        () -> {
                          release.letGo(context, task);
                          return true;
                        }));
  }

  @Override
  public Optional<Lookout> lookout() {
    return agent
        .lookout()
        .map(
            lookout ->
                (ContextId context, TaskId task) ->
                    run("lookout-" + task, () -> lookout.settled(context, task)));
  }

  @Override
  public boolean passesOn() {
    return agent.passesOn();
  }
}
