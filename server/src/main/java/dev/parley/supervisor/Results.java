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

/// What a supervisor makes of the results of the agents below it.
final class Results {

  private Results() {}

  /// The supervisor's own end: the answer of one agent, or what was made of all answers; and each result.
  static Outcome of(Run run, Routing routing, Outcome.Completed completed) {
    var found = AgentResults.of(run);
    var about = Json.object();
    about.set(Supervisor.ROUTING, routing.json());
    about.putArray("results").addAll(found.list());
    var one = routing.strategy() == Strategy.SINGLE || routing.strategy() == Strategy.DELEGATE;
    return new Outcome.Completed(one ? found.answer().orElse("") : completed.content(), about);
  }

  /// Why the answers of the agents ended, if they are passed on as they are.
  static FinishReason reason(Run run) {
    return AgentResults.of(run).earlyEnd().map(EarlyEnd::reason).orElse(FinishReason.STOP);
  }

  /// Why the work failed, if an agent said why.
  static Optional<Reply> failure(Run run) {
    return AgentResults.of(run)
        .error()
        .map(error -> new Reply.Failed(error.code(), error.message(), error.retryable()));
  }
}
