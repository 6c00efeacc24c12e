package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.api.MessageEditor;
import dev.parley.api.openai.ResponseStarter.Destination;
import dev.parley.api.openai.ResponseStarter.ResponseRequest;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// `/v1/responses`: creates responses, reads and streams them at any time, cancels and deletes
/// them.
final class ResponseRoutes {

  private static final String ALL = AgentModels.PREFIX + "/responses";
  private static final String ONE = ALL + "/{response}";
  private static final String JSON = "application/json";
  private static final int CLIENT_METADATA_MAX = 16;

  private final ApiDependencies parts;
  private final ResponseReader reader;
  private final ResponseStarter starter;
  private final AgentModels agents;
  private final ResponseInputItems inputItems;
  private final MessageEditor messages;

  ResponseRoutes(
      ApiDependencies parts, ResponseReader reader, ResponseStarter starter, AgentModels agents) {
    this.parts = parts;
    this.reader = reader;
    this.starter = starter;
    this.agents = agents;
    this.inputItems = new ResponseInputItems(parts);
    this.messages = new MessageEditor(parts.log(), parts.views());
  }

  /// The request body in the OpenAPI description. [ResponseInputParser] parses it. Other fields are
  /// ignored: the configuration of the agent decides.
  record ResponseBody(
      String model,
      JsonNode input,
      @Nullable String instructions,
      @Nullable String previous_response_id,
      @Nullable JsonNode conversation,
      @Nullable Boolean background,
      @Nullable Boolean stream,
      @Nullable List<ObjectNode> tools,
      @Nullable ObjectNode metadata) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            ALL,
            new Route.RouteDescription(
                "Creates a response of an agent; with stream: true, as a stream",
                List.of(ChatCompletionRoutes.KEY, Parameter.ANY_OTHER),
                ResponseBody.class,
                ResponseDescription.other(JSON)),
            this::create),
        Route.get(
            ONE,
            "Shows a response; with stream=true, streams its events after starting_after",
            ResponseDescription.other(JSON),
            List.of(
                Parameter.query("stream", Parameter.Type.BOOLEAN, "streams the events"),
                Parameter.query(
                    "starting_after",
                    Parameter.Type.INTEGER,
                    "only events after this sequence_number; works without time limit"),
                Parameter.ANY_OTHER),
            this::show),
        Route.withoutBody(
            Route.Method.DELETE,
            ONE,
            "Deletes a response, and its conversation if it has no other",
            ResponseDescription.other(JSON),
            this::delete),
        Route.withoutBody(
            Route.Method.POST,
            ONE + "/cancel",
            "Cancels a response and waits for its end",
            ResponseDescription.other(JSON),
            this::cancel),
        Route.get(
            ONE + "/input_items",
            "Lists the input items of a response",
            ResponseDescription.other(JSON),
            OpenAiPage.PARAMETERS,
            this::inputItems));
  }

  private Reply create(Request request) {
    var body = request.body(ObjectNode.class);
    var input = ResponseInputParser.parse(body, agents.agent(body));
    var previous = body.path("previous_response_id").asString(null);
    var background = body.path("background").asBoolean(false);
    var facts = new OpenAiFacts(background, previous, metadata(body), input.tools().forms());
    var wanted = new ResponseRequest(request, input, destination(body, previous), facts);
    if (body.path("stream").asBoolean(false)) {
      var started = starter.start(wanted);
      return stream(started.context(), started.id(), -1);
    }
    try (var call = request.blockingCall(parts.streamDependencies().streams())) {
      var started = starter.start(wanted);
      var response =
          reader
              .await(
                  call,
                  started.context(),
                  started.id(),
                  background ? ResponseProjection::begun : ResponseProjection::ended)
              .response();
      return new Reply.Json(200, response.json());
    }
  }

  private static ObjectNode metadata(ObjectNode body) {
    var metadata = body.path("metadata") instanceof ObjectNode given ? given : Json.object();
    if (metadata.size() > CLIENT_METADATA_MAX) {
      throw new Rejection.Invalid("metadata has at most " + CLIENT_METADATA_MAX + " keys");
    }
    return metadata;
  }

  private static Destination destination(ObjectNode body, @Nullable String previous) {
    var conversation = body.path("conversation");
    var id =
        conversation.isObject() ? conversation.path("id").asString("") : conversation.asString("");
    if (!id.isEmpty() && previous != null) {
      throw new Rejection.Invalid("previous_response_id and conversation cannot be used together");
    }
    if (previous != null) {
      return new Destination.After(ResponseId.parse(previous));
    }
    return id.isEmpty()
        ? new Destination.NewContext()
        : new Destination.Named(OpenAiConversationRoutes.context(id), false, false);
  }

  private Reply stream(ContextId context, ResponseId id, long startingAfter) {
    var projection = new ResponseProjection(context, id);
    return reader.stream(context, id, new ResponseEventStream(projection, startingAfter), Map.of());
  }

  private Reply show(Request request) {
    var id = ResponseId.parse(request.path("response"));
    var context = present(request, id);
    var projection = reader.read(context, id);
    if (!request.flag("stream")) {
      return new Reply.Json(200, projection.response().json());
    }
    return stream(context, id, request.number("starting_after", 0).orElse(-1L));
  }

  /// The context of a response that exists and was not deleted.
  private ContextId present(Request request, ResponseId id) {
    var context = reader.context(request, request.action(), id);
    var task = parts.views().task(context, id.root()).orElse(null);
    if (task != null
        && task.messageId() != null
        && parts.views().message(context, task.messageId()).isEmpty()) {
      throw ResponseId.unknown(id.toString());
    }
    return context;
  }

  private Reply cancel(Request request) {
    var id = ResponseId.parse(request.path("response"));
    var context = present(request, id);
    var response = reader.read(context, id);
    if (!response.ended()) {
      parts.tasks().cancel(context, id.root(), request.principal(), null);
      try (var call = request.blockingCall(parts.streamDependencies().streams())) {
        response = reader.await(call, context, id, ResponseProjection::ended);
      }
    } else if (response.phase() == ResponseProjection.Phase.PAUSED) {
      // The response has ended with a question; nobody will answer it.
      parts.tasks().cancel(context, id.root(), request.principal(), null);
    }
    return new Reply.Json(200, response.response().json());
  }

  /// Deletes the context if the response is all that it has. Otherwise, hides the messages of the
  /// response.
  private Reply delete(Request request) {
    var id = ResponseId.parse(request.path("response"));
    var context = present(request, id);
    if (!reader.read(context, id).ended()) {
      parts.tasks().cancel(context, id.root(), request.principal(), "deleted");
    }
    if (parts.views().rootTasks(context, 0, Long.MAX_VALUE).size() <= 1) {
      parts.access().check(request.caller(), Action.OWN, context);
      parts.deletion().delete(context, request.principal());
    } else {
      var task =
          parts
              .views()
              .task(context, id.root())
              .orElseThrow(() -> ResponseId.unknown(id.toString()));
      var answer = parts.views().answerOf(context, task);
      answer.ifPresent(text -> messages.delete(context, text.messageId(), request.principal()));
      if (task.messageId() != null) {
        messages.delete(context, task.messageId(), request.principal());
      }
    }
    var json = Json.object().put("id", id.toString()).put("object", "response");
    return new Reply.Json(200, json.put("deleted", true));
  }

  private Reply inputItems(Request request) {
    var id = ResponseId.parse(request.path("response"));
    var context = present(request, id);
    var items = inputItems.of(reader.read(context, id));
    return new Reply.Json(200, OpenAiPage.of(request, items));
  }
}
