package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aJsonFields;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.a2a.A2aRequestBody.ProtoJsonNames;
import dev.parley.api.a2a.A2aTaskStream.A2aFrameWriter;
import dev.parley.api.a2a.TaskLister.ListTasksRequest;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.identity.Action;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.stream.FrameCursor;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/// A2A over JSON-RPC: one path for all methods of both versions.
final class A2aJsonRpc {

  private final A2aAgentResolver agents;
  private final A2aOperations operations;
  private final AgentCards cards;
  private final ExtensionNegotiation negotiation;

  A2aJsonRpc(
      A2aAgentResolver agents,
      A2aOperations operations,
      AgentCards cards,
      ExtensionNegotiation negotiation) {
    this.agents = agents;
    this.operations = operations;
    this.cards = cards;
    this.negotiation = negotiation;
  }

  /// A JSON-RPC call with its caller and parameters.
  private record RpcCall(A2aCaller caller, A2aMethod method, JsonNode id, A2aJsonFields params) {
    A2aVersion version() {
      return caller.version();
    }

    Reply result(JsonNode result) {
      return new Reply.Json(200, envelope(result));
    }

    ObjectNode envelope(JsonNode result) {
      var json = Json.object().put("jsonrpc", "2.0");
      json.set("id", id);
      json.set("result", result);
      return json;
    }

    A2aFrameWriter frameWriter() {
      return new A2aFrameWriter(A2aEncoders.of(version()), this::envelope);
    }
  }

  /// Handles a request. Errors are returned as JSON-RPC errors.
  Reply handle(Request request) {
    agents.find(request);
    var state = new RequestState();
    try {
      var json = A2aRequestBody.read(request);
      state.id = id(json);
      state.version = agents.version(request);
      var call = call(request, json, state);
      var asked = negotiation.requestedExtensions(request);
      return negotiation.withExtensionHeaders(answer(request, call), asked, state.version);
    } catch (A2aException fault) {
      return errorReply(state, fault);
    } catch (Rejection.Unauthorized | Rejection.Forbidden notAllowed) {
      throw notAllowed;
    } catch (Rejection rejection) {
      return errorReply(state, A2aErrorEncoder.toException(rejection));
    }
  }

  /// The parts of a request that were read so far.
  private static final class RequestState {
    JsonNode id = NullNode.getInstance();
    A2aVersion version = A2aVersion.V0_3;
    boolean streams;
  }

  /// The request's id; null if it is missing or not valid.
  private static JsonNode id(JsonNode json) {
    var id = json.path("id");
    return id.isString() || id.isIntegralNumber() ? id : NullNode.getInstance();
  }

  private RpcCall call(Request request, JsonNode json, RequestState state) {
    if (json.isArray()) {
      throw invalidRequest("batches are not supported: send one request");
    }
    if (!json.isObject() || !json.path("jsonrpc").asString("").equals("2.0")) {
      throw invalidRequest("jsonrpc must be \"2.0\"");
    }
    var id = json.path("id");
    if (!id.isMissingNode() && !id.isNull() && !id.isString() && !id.isIntegralNumber()) {
      throw invalidRequest("id must be a string or a whole number");
    }
    if (json.path("method").isMissingNode()) {
      throw invalidRequest("method is needed");
    }
    // A method that is not a string is an unknown method: the conformance kit for 0.3 expects this.
    var name = json.path("method").asString(json.path("method").toString());
    var method =
        A2aMethod.find(state.version, name).orElseThrow(() -> unknown(state.version, name));
    state.streams = method == A2aMethod.STREAM || method == A2aMethod.SUBSCRIBE;
    var params = json.path("params");
    if (!params.isMissingNode() && !params.isNull() && !params.isObject()) {
      throw A2aException.invalid("params must be an object");
    }
    var given =
        new A2aJsonFields(
            params instanceof ObjectNode object
                ? ProtoJsonNames.toCamelCase(object)
                : Json.object(),
            "");
    var caller = agents.caller(request, state.version).withTenant(given.nonEmptyText("tenant"));
    return new RpcCall(caller, method, state.id, given);
  }

  private static A2aException invalidRequest(String message) {
    return new A2aException(A2aError.INVALID_REQUEST, "Invalid Request: " + message);
  }

  private static A2aException unknown(A2aVersion version, String name) {
    var other = version == A2aVersion.V1_0 ? A2aVersion.V0_3 : A2aVersion.V1_0;
    var hint =
        A2aMethod.find(other, name).isEmpty()
            ? ""
            : "; it is a method of version "
                + other.number()
                + ", but this request has "
                + A2aVersion.HEADER
                + ": "
                + version.number();
    return new A2aException(A2aError.METHOD_NOT_FOUND, "Method not found: " + name + hint);
  }

  private Reply answer(Request request, RpcCall call) {
    var form = A2aEncoders.of(call.version());
    var params = call.params();
    return switch (call.method()) {
      case SEND ->
          call.result(
              form.item(
                  operations.send(
                      call.caller(), A2aParser.send(params.node()), request::blockingCall)));
      case STREAM ->
          new Reply.Stream(
              operations.stream(call.caller(), A2aParser.send(params.node()), call.frameWriter()));
      case GET ->
          call.result(
              form.task(
                  operations.get(
                      call.caller(),
                      params.requiredText("id"),
                      params.nonNegative("historyLength"))));
      case LIST -> call.result(operations.list(call.caller(), ListTasksRequest.of(params), form));
      case CANCEL ->
          call.result(
              form.task(
                  operations.cancel(
                      call.caller(), params.requiredText("id"), request::blockingCall)));
      case SUBSCRIBE ->
          new Reply.Stream(
              operations.subscribe(
                  call.caller(),
                  params.requiredText("id"),
                  lastEventId(request),
                  call.frameWriter()));
      case PUSH_SET, PUSH_GET, PUSH_LIST, PUSH_DELETE -> call.result(push(call));
      case CARD -> call.result(cards.extendedCard(request, agents.find(request), call.version()));
    };
  }

  private JsonNode push(RpcCall call) {
    var form = A2aEncoders.of(call.version());
    var desk = operations.pushConfigs();
    var params = call.params();
    if (call.method() == A2aMethod.PUSH_SET) {
      var target = A2aParser.push(params.node());
      var task = operations.find(call.caller(), Action.WRITE, required("taskId", target.taskId()));
      desk.check(target);
      return form.push(desk.register(call.caller(), task, target));
    }
    // 0.3 calls the task `id`.
    var early = call.version() == A2aVersion.V0_3 && params.nonEmptyText("taskId") == null;
    var action = call.method() == A2aMethod.PUSH_DELETE ? Action.WRITE : Action.READ;
    var task = operations.find(call.caller(), action, params.requiredText(early ? "id" : "taskId"));
    if (call.method() == A2aMethod.PUSH_LIST) {
      return form.pushes(desk.list(call.caller(), task));
    }
    var id = params.nonEmptyText(early ? "pushNotificationConfigId" : "id");
    if (call.method() == A2aMethod.PUSH_GET) {
      return form.push(desk.find(call.caller(), task, id == null ? "" : id));
    }
    desk.delete(call.caller(), task, required("id", id));
    return call.version() == A2aVersion.V0_3 ? NullNode.getInstance() : Json.object();
  }

  private static String required(String name, @Nullable String value) {
    if (value == null) {
      throw A2aException.invalid(name + ": is needed");
    }
    return value;
  }

  /// The id of the last frame that the client received.
  static @Nullable FrameCursor lastEventId(Request request) {
    return request
        .header("Last-Event-ID")
        .filter(id -> !id.isBlank())
        .map(FrameCursor::parse)
        .orElse(null);
  }

  /// In 0.3 an error of a streaming method is sent as a stream: its clients read nothing else.
  private static Reply errorReply(RequestState state, A2aException fault) {
    var json = A2aErrorEncoder.jsonRpcError(state.version, state.id, fault);
    return state.streams && state.version == A2aVersion.V0_3
        ? new Reply.Bytes(200, "text/event-stream", A2aFrameWriter.frame(null, json), Map.of())
        : new Reply.Json(200, json);
  }

  /// The JSON-RPC methods, with their names in each version.
  enum A2aMethod {
    SEND("message/send", "SendMessage"),
    STREAM("message/stream", "SendStreamingMessage"),
    GET("tasks/get", "GetTask"),
    LIST(null, "ListTasks"),
    CANCEL("tasks/cancel", "CancelTask"),
    SUBSCRIBE("tasks/resubscribe", "SubscribeToTask"),
    PUSH_SET("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"),
    PUSH_GET("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"),
    PUSH_LIST("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"),
    PUSH_DELETE("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"),
    CARD("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard");

    private final @Nullable String earlyName;
    private final String name;

    A2aMethod(@Nullable String early, String name) {
      this.earlyName = early;
      this.name = name;
    }

    /// The name in a version; null if the version does not have the method.
    @Nullable String nameIn(A2aVersion version) {
      return version == A2aVersion.V1_0 ? name : earlyName;
    }

    static Optional<A2aMethod> find(A2aVersion version, String name) {
      return Arrays.stream(values())
          .filter(method -> name.equals(method.nameIn(version)))
          .findFirst();
    }
  }
}
