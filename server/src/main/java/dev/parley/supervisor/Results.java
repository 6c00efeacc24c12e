package dev.parley.supervisor;

import dev.parley.agent.AgentResults;
import dev.parley.model.Reply;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import dev.parley.task.EarlyEnd;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.task.Strategy;
import java.util.Optional;

/// Combines the results of the supervisor's agents.
final class Results {

  private Results() {}

  /// The supervisor's own outcome: the answer of one agent, or the combined answer; and each
  /// result.
  static Outcome of(Run run, Routing routing, Outcome.Completed completed) {
    var found = AgentResults.of(run);
    var about = Json.object();
    about.set(Supervisor.ROUTING, routing.json());
    about.putArray("results").addAll(found.list());
    var one = routing.strategy() == Strategy.SINGLE || routing.strategy() == Strategy.DELEGATE;
    return new Outcome.Completed(one ? found.answer().orElse("") : completed.content(), about);
  }

  /// The finish reason of the agents' answers, if they are returned unchanged.
  static FinishReason reason(Run run) {
    return AgentResults.of(run).earlyEnd().map(EarlyEnd::reason).orElse(FinishReason.STOP);
  }

  /// The error of the agent that failed, if there is one.
  static Optional<Reply> failure(Run run) {
    return AgentResults.of(run)
        .error()
        .map(error -> new Reply.Failed(error.code(), error.message(), error.retryable()));
  }
}
