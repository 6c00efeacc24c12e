package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.api.openai.ResponseStarter.Destination;
import dev.parley.api.openai.ResponseStarter.ResponseRequest;
import dev.parley.http.Parameter;
import dev.parley.http.Problem;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `POST /v1/chat/completions`: an agent answers a conversation.
///
/// Each request has a context of its own, because clients send, edit and shorten the whole
/// conversation themselves. The header `X-Parley-Context` continues a context instead.
final class ChatCompletionRoutes {

  static final String CONTEXT = "X-Parley-Context";
  static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final ApiDependencies parts;
  private final ResponseReader reader;
  private final ResponseStarter starter;
  private final AgentModels agents;

  ChatCompletionRoutes(
      ApiDependencies parts, ResponseReader reader, ResponseStarter starter, AgentModels agents) {
    this.parts = parts;
    this.reader = reader;
    this.starter = starter;
    this.agents = agents;
  }

  /// The request body in the OpenAPI description. [ChatInputParser] parses it. Other fields are
  /// ignored: the configuration of the agent decides.
  record ChatCompletionBody(
      String model,
      List<ObjectNode> messages,
      @Nullable Boolean stream,
      @Nullable List<ObjectNode> tools) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            AgentModels.PREFIX + "/chat/completions",
            new Route.RouteDescription(
                "Lets an agent answer a conversation; with stream: true, as a stream",
                List.of(
                    KEY,
                    Parameter.header(CONTEXT, "the context to continue, created if needed"),
                    Parameter.ANY_OTHER),
                ChatCompletionBody.class,
                ResponseDescription.other("application/json")),
            this::create));
  }

  private Reply create(Request request) {
    var body = request.body(ObjectNode.class);
    var input = ChatInputParser.parse(body, agents.agent(body));
    var client = body.path("metadata") instanceof ObjectNode json ? json : Json.object();
    var facts = new OpenAiFacts(false, null, client, input.tools().forms());
    var wanted = new ResponseRequest(request, input, destination(request), facts);
    if (!body.path("stream").asBoolean(false)) {
      return answer(request, wanted);
    }
    var started = starter.start(wanted);
    var projection = new ResponseProjection(started.context(), started.id());
    var withUsage = body.path("stream_options").path("include_usage").asBoolean(false);
    return reader.stream(
        started.context(),
        started.id(),
        new CompletionStream(projection, withUsage),
        headers(started.context()));
  }

  private static Destination destination(Request request) {
    return request
        .header(CONTEXT)
        .<Destination>map(id -> new Destination.Named(new ContextId(id), true, true))
        .orElseGet(Destination.NewContext::new);
  }

  private Reply answer(Request request, ResponseRequest wanted) {
    try (var call = request.blockingCall(parts.streamDependencies().streams())) {
      var started = starter.start(wanted);
      var done =
          reader.await(call, started.context(), started.id(), ResponseProjection::ended).response();
      var headers = headers(started.context());
      if (done.status() == ResponseRecord.Status.FAILED) {
        return new Reply.Rejected(
            Problem.of(
                done.errorCode().equals("rate_limit_exceeded") ? 429 : 500,
                done.errorCode(),
                done.errorMessage()),
            // The task has ended: a retry would be another one.
            Map.of(CONTEXT, started.context().value(), "x-should-retry", "false"));
      }
      return new Reply.Json(200, ChatCompletions.completion(done), headers);
    }
  }

  private static Map<String, String> headers(ContextId context) {
    return Map.of(CONTEXT, context.value());
  }
}
