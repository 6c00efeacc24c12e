package dev.parley.server;

import dev.parley.log.EventLog;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.FakeModelServer;
import dev.parley.model.FakeModelServer.ReceivedRequest;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/// What tests tell a model over the wire to do: each line `!tool {arguments}` is a call, `stream` is text
/// that does not end, and anything else it says back; after calls it says what they returned.
final class ModelInstructions {

  private static final Duration PATIENCE = Duration.ofSeconds(40);

  private ModelInstructions() {}

  /// A model that takes orders.
  static FakeModelServer model() {
    return FakeModelServer.answering(ModelInstructions::answer);
  }

  private static FakeModelAnswer answer(ReceivedRequest receivedRequest) {
    var said = receivedRequest.lastText();
    if (receivedRequest.afterCall()) {
      return FakeModelAnswer.saying(results(receivedRequest.body().path("messages")));
    }
    if (said.equals("stream")) {
      return FakeModelAnswer.of(FakeModelAnswer.text("tick ")).ending(FakeModelAnswer.Ending.HOLD);
    }
    var calls = new ArrayList<Step>();
    for (var line : said.lines().filter(l -> l.startsWith("!")).toList()) {
      var words = line.substring(1).split(" ", 2);
      calls.add(
          FakeModelAnswer.call("c" + calls.size(), words[0], words.length == 1 ? "{}" : words[1]));
    }
    return calls.isEmpty()
        ? FakeModelAnswer.saying(said)
        : FakeModelAnswer.of(calls.toArray(Step[]::new));
  }

  private static String results(JsonNode messages) {
    var results = new ArrayList<String>();
    for (var i = messages.size() - 1;
        messages.path(i).path("role").asString().equals("tool");
        i--) {
      results.addFirst(messages.path(i).path("content").asString());
    }
    return String.join(" | ", results);
  }

  /// A line that hands these orders to the agent `worker`, side by side.
  static String batch(Iterable<String> orders) {
    var arguments = Json.object().put("mode", "parallel");
    var tasks = arguments.putArray("tasks");
    orders.forEach(order -> tasks.addObject().put("agentId", "worker").put("prompt", order));
    return "!subagents " + arguments;
  }

  /// A configuration with the agent `worker`, who has these tools and need not ask.
  static String config(FakeModelServer model, String tools, String more) {
    return """
    models: {m: {provider: openai, model: m, baseUrl: '%s', apiKey: sk-test}}
    agents: [{id: worker, tools: [%s], permission: allow}]
    %s
    """
        .formatted(model.url(), tools, more);
  }

  /// Waits for an entry and returns it.
  static Entry await(EventLog log, ContextId context, Predicate<Entry> wanted)
      throws InterruptedException {
    var position = Position.START;
    while (true) {
      for (var page = log.read(context, position, 1_000);
          !page.isEmpty();
          page = log.read(context, position, 1_000)) {
        for (var entry : page) {
          if (wanted.test(entry)) {
            return entry;
          }
        }
        position = page.getLast().position();
      }
      if (!log.await(context, position, PATIENCE)) {
        throw new AssertionError("it did not come: " + log.read(context, Position.START, 1_000));
      }
    }
  }
}
