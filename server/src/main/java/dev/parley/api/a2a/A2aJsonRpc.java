package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.a2a.A2aTaskStream.A2aFrameWriter;
import dev.parley.http.FrameCursor;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/// A2A over JSON-RPC: one path for all methods of both versions.
final class A2aJsonRpc {

  private final A2aAgentResolver a2aAgentResolver;
  private final A2aOperations a2aOperations;
  private final AgentCards agentCards;
  private final ExtensionNegotiation extensionNegotiation;

  A2aJsonRpc(
      A2aAgentResolver a2aAgentResolver,
      A2aOperations a2aOperations,
      AgentCards agentCards,
      ExtensionNegotiation extensionNegotiation) {
    this.a2aAgentResolver = a2aAgentResolver;
    this.a2aOperations = a2aOperations;
    this.agentCards = agentCards;
    this.extensionNegotiation = extensionNegotiation;
  }

  /// A JSON-RPC call with its caller and parameters.
  private record RpcCall(A2aCaller caller, A2aMethod method, JsonNode id, A2aParams params) {
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
    a2aAgentResolver.find(request);
    var requestState = new RequestState();
    try {
      var json = A2aRequestBody.read(request);
      requestState.id = id(json);
      requestState.version = a2aAgentResolver.version(request);
      var rpcCall = call(request, json, requestState);
      var asked = extensionNegotiation.requestedExtensions(request);
      return extensionNegotiation.withExtensionHeaders(
          answer(request, rpcCall), asked, requestState.version);
    } catch (A2aException fault) {
      return errorReply(requestState, fault);
    } catch (Rejection.Unauthorized | Rejection.Forbidden notAllowed) {
      throw notAllowed;
    } catch (Rejection rejection) {
      return errorReply(requestState, A2aErrorEncoder.toException(rejection));
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

  private RpcCall call(Request request, JsonNode json, RequestState requestState) {
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
        A2aMethod.find(requestState.version, name)
            .orElseThrow(() -> unknown(requestState.version, name));
    requestState.streams = method == A2aMethod.STREAM || method == A2aMethod.SUBSCRIBE;
    var params = json.path("params");
    if (!params.isMissingNode() && !params.isNull() && !params.isObject()) {
      throw A2aParams.invalid("params must be an object");
    }
    var given =
        new A2aParams(
            params instanceof ObjectNode object
                ? ProtoJsonNames.toCamelCase(object)
                : Json.object());
    var a2aCaller =
        a2aAgentResolver.caller(request, requestState.version).withTenant(given.text("tenant"));
    return new RpcCall(a2aCaller, method, requestState.id, given);
  }

  private static A2aException invalidRequest(String message) {
    return new A2aException(A2aError.INVALID_REQUEST, "Invalid Request: " + message);
  }

  private static A2aException unknown(A2aVersion a2aVersion, String name) {
    var other = a2aVersion == A2aVersion.V1_0 ? A2aVersion.V0_3 : A2aVersion.V1_0;
    var hint =
        A2aMethod.find(other, name).isEmpty()
            ? ""
            : "; it is a method of version "
                + other.number()
                + ", but this request has "
                + A2aVersion.HEADER
                + ": "
                + a2aVersion.number();
    return new A2aException(A2aError.METHOD_NOT_FOUND, "Method not found: " + name + hint);
  }

  private Reply answer(Request request, RpcCall rpcCall) {
    var form = A2aEncoders.of(rpcCall.version());
    var a2aParams = rpcCall.params();
    return switch (rpcCall.method()) {
      case SEND ->
          rpcCall.result(
              form.item(
                  a2aOperations.send(
                      rpcCall.caller(), A2aParser.send(a2aParams.json()), request::blockingCall)));
      case STREAM ->
          new Reply.Stream(
              a2aOperations.stream(
                  rpcCall.caller(), A2aParser.send(a2aParams.json()), rpcCall.frameWriter()));
      case GET ->
          rpcCall.result(
              form.task(
                  a2aOperations.get(
                      rpcCall.caller(),
                      a2aParams.required("id"),
                      a2aParams.integer("historyLength"))));
      case LIST ->
          rpcCall.result(
              a2aOperations.list(rpcCall.caller(), ListTasksRequest.of(a2aParams), form));
      case CANCEL ->
          rpcCall.result(
              form.task(
                  a2aOperations.cancel(
                      rpcCall.caller(), a2aParams.required("id"), request::blockingCall)));
      case SUBSCRIBE ->
          new Reply.Stream(
              a2aOperations.subscribe(
                  rpcCall.caller(),
                  a2aParams.required("id"),
                  lastEventId(request),
                  rpcCall.frameWriter()));
      case PUSH_SET, PUSH_GET, PUSH_LIST, PUSH_DELETE -> rpcCall.result(push(rpcCall));
      case CARD ->
          rpcCall.result(
              agentCards.extendedCard(request, a2aAgentResolver.find(request), rpcCall.version()));
    };
  }

  private JsonNode push(RpcCall rpcCall) {
    var form = A2aEncoders.of(rpcCall.version());
    var desk = a2aOperations.pushConfigs();
    var a2aParams = rpcCall.params();
    PushConfigRegistry.checkSupported(desk);
    if (rpcCall.method() == A2aMethod.PUSH_SET) {
      var target = A2aParser.push(a2aParams.json());
      var task = a2aOperations.find(rpcCall.caller(), required("taskId", target.taskId()));
      desk.check(target);
      return form.push(desk.register(rpcCall.caller(), task, target));
    }
    // 0.3 calls the task `id`.
    var early = rpcCall.version() == A2aVersion.V0_3 && a2aParams.text("taskId") == null;
    var task = a2aOperations.find(rpcCall.caller(), a2aParams.required(early ? "id" : "taskId"));
    if (rpcCall.method() == A2aMethod.PUSH_LIST) {
      return form.pushes(desk.list(rpcCall.caller(), task));
    }
    var id = a2aParams.text(early ? "pushNotificationConfigId" : "id");
    if (rpcCall.method() == A2aMethod.PUSH_GET) {
      return form.push(desk.find(rpcCall.caller(), task, id == null ? "" : id));
    }
    desk.delete(rpcCall.caller(), task, required("id", id));
    return rpcCall.version() == A2aVersion.V0_3 ? NullNode.getInstance() : Json.object();
  }

  private static String required(String name, @Nullable String value) {
    if (value == null) {
      throw A2aParams.invalid(name + ": is needed");
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
  private static Reply errorReply(RequestState requestState, A2aException fault) {
    var json = A2aErrorEncoder.jsonRpcError(requestState.version, requestState.id, fault);
    return requestState.streams && requestState.version == A2aVersion.V0_3
        ? new Reply.Bytes(200, "text/event-stream", A2aFrameWriter.frame(null, json), Map.of())
        : new Reply.Json(200, json);
  }
}
