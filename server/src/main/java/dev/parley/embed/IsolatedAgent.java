package dev.parley.embed;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
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
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    return run("task-" + taskRun.origin().taskId(), () -> agent.work(taskRun));
  }

  private <T> T run(String thread, PlatformThreads.InterruptibleWork<T> interruptibleWork)
      throws InterruptedException {
    try {
      return threads.work(id.value(), thread, grace, interruptibleWork);
    } catch (PlatformThreads.StuckCallException stuck) {
      // The agent was asked to stop; the code that stopped it writes the task's end.
      throw new InterruptedException(stuck.getMessage());
    }
  }

  @Override
  public boolean resumes() {
    return agent.resumes();
  }

  @Override
  public Optional<ResourceRelease> release() {
    return agent
        .release()
        .map(
            resourceRelease ->
                (ContextId context, TaskId task) ->
                    run(
                        "release-" + task,
                        () -> {
                          resourceRelease.release(context, task);
                          return true;
                        }));
  }

  @Override
  public Optional<RemoteQuestionCheck> remoteQuestionCheck() {
    return agent
        .remoteQuestionCheck()
        .map(
            remoteQuestionCheck ->
                (ContextId context, TaskId task) ->
                    run(
                        "remote-question-" + task,
                        () -> remoteQuestionCheck.settledReason(context, task)));
  }

  @Override
  public boolean forwardsMessages() {
    return agent.forwardsMessages();
  }
}
