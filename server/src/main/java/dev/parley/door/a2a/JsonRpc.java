package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireForms;
import dev.parley.a2a.WireReader;
import dev.parley.door.FrameCursor;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.a2a.TaskStream.Writing;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/// A2A over JSON-RPC: one path for all methods of both versions.
final class JsonRpc {

  private final Agents agents;
  private final Operations operations;
  private final Cards cards;
  private final Negotiation negotiation;

  JsonRpc(Agents agents, Operations operations, Cards cards, Negotiation negotiation) {
    this.agents = agents;
    this.operations = operations;
    this.cards = cards;
    this.negotiation = negotiation;
  }

  /// A JSON-RPC call with its caller and parameters.
  private record Call(Caller caller, RpcMethod method, JsonNode id, Params params) {
    Version version() {
      return caller.version();
    }

    Reply result(JsonNode result) {
      return new Reply.Json(200, around(result));
    }

    ObjectNode around(JsonNode result) {
      var json = Json.object().put("jsonrpc", "2.0");
      json.set("id", id);
      json.set("result", result);
      return json;
    }

    Writing writing() {
      return new Writing(WireForms.of(version()), this::around);
    }
  }

  /// Handles a request. Errors are returned as JSON-RPC errors.
  Reply handle(Request request) {
    agents.find(request);
    var opened = new Opened();
    try {
      var json = Bodies.read(request);
      opened.id = id(json);
      opened.version = agents.version(request);
      var call = call(request, json, opened);
      var asked = negotiation.asked(request);
      return negotiation.told(answer(request, call), asked, opened.version);
    } catch (A2aException fault) {
      return refused(opened, fault);
    } catch (Rejection.Unauthorized | Rejection.Forbidden notAllowed) {
      throw notAllowed;
    } catch (Rejection rejection) {
      return refused(opened, Faults.of(rejection));
    }
  }

  /// The parts of a request that were read so far.
  private static final class Opened {
    JsonNode id = NullNode.getInstance();
    Version version = Version.V0_3;
    boolean streams;
  }

  /// The request's id; null if it is missing or not valid.
  private static JsonNode id(JsonNode json) {
    var id = json.path("id");
    return id.isString() || id.isIntegralNumber() ? id : NullNode.getInstance();
  }

  private Call call(Request request, JsonNode json, Opened opened) {
    if (json.isArray()) {
      throw wrong("batches are not supported: send one request");
    }
    if (!json.isObject() || !json.path("jsonrpc").asString("").equals("2.0")) {
      throw wrong("jsonrpc must be \"2.0\"");
    }
    var id = json.path("id");
    if (!id.isMissingNode() && !id.isNull() && !id.isString() && !id.isIntegralNumber()) {
      throw wrong("id must be a string or a whole number");
    }
    if (json.path("method").isMissingNode()) {
      throw wrong("method is needed");
    }
    // A method that is not a string is an unknown method: the conformance kit for 0.3 expects this.
    var name = json.path("method").asString(json.path("method").toString());
    var method =
        RpcMethod.named(opened.version, name).orElseThrow(() -> unknown(opened.version, name));
    opened.streams = method == RpcMethod.STREAM || method == RpcMethod.SUBSCRIBE;
    var params = json.path("params");
    if (!params.isMissingNode() && !params.isNull() && !params.isObject()) {
      throw Params.invalid("params must be an object");
    }
    var given = new Params(params instanceof ObjectNode object ? Camel.of(object) : Json.object());
    var caller = agents.caller(request, opened.version).with(given.text("tenant"));
    return new Call(caller, method, opened.id, given);
  }

  private static A2aException wrong(String message) {
    return new A2aException(A2aError.INVALID_REQUEST, "Invalid Request: " + message);
  }

  private static A2aException unknown(Version version, String name) {
    var other = version == Version.V1_0 ? Version.V0_3 : Version.V1_0;
    var hint =
        RpcMethod.named(other, name).isEmpty()
            ? ""
            : "; it is a method of version "
                + other.number()
                + ", but this request has "
                + Version.HEADER
                + ": "
                + version.number();
    return new A2aException(A2aError.METHOD_NOT_FOUND, "Method not found: " + name + hint);
  }

  private Reply answer(Request request, Call call) {
    var form = WireForms.of(call.version());
    var params = call.params();
    return switch (call.method()) {
      case SEND ->
          call.result(
              form.item(
                  operations.send(call.caller(), WireReader.send(params.json()), request::hold)));
      case STREAM ->
          new Reply.Stream(
              operations.stream(call.caller(), WireReader.send(params.json()), call.writing()));
      case GET ->
          call.result(
              form.task(
                  operations.get(
                      call.caller(), params.needed("id"), params.whole("historyLength"))));
      case LIST -> call.result(operations.list(call.caller(), Listing.of(params), form));
      case CANCEL ->
          call.result(
              form.task(operations.cancel(call.caller(), params.needed("id"), request::hold)));
      case SUBSCRIBE ->
          new Reply.Stream(
              operations.subscribe(
                  call.caller(), params.needed("id"), lastEventId(request), call.writing()));
      case PUSH_SET, PUSH_GET, PUSH_LIST, PUSH_DELETE -> call.result(push(call));
      case CARD -> call.result(cards.extended(request, agents.find(request), call.version()));
    };
  }

  private JsonNode push(Call call) {
    var form = WireForms.of(call.version());
    var desk = operations.pushes();
    var params = call.params();
    PushDesk.checkSupported(desk);
    if (call.method() == RpcMethod.PUSH_SET) {
      var target = WireReader.push(params.json());
      var task = operations.find(call.caller(), needed("taskId", target.taskId()));
      desk.check(target);
      return form.push(desk.keep(call.caller(), task, target));
    }
    // 0.3 calls the task `id`.
    var early = call.version() == Version.V0_3 && params.text("taskId") == null;
    var task = operations.find(call.caller(), params.needed(early ? "id" : "taskId"));
    if (call.method() == RpcMethod.PUSH_LIST) {
      return form.pushes(desk.list(call.caller(), task));
    }
    var id = params.text(early ? "pushNotificationConfigId" : "id");
    if (call.method() == RpcMethod.PUSH_GET) {
      return form.push(desk.find(call.caller(), task, id == null ? "" : id));
    }
    desk.delete(call.caller(), task, needed("id", id));
    return call.version() == Version.V0_3 ? NullNode.getInstance() : Json.object();
  }

  private static String needed(String name, @Nullable String value) {
    if (value == null) {
      throw Params.invalid(name + ": is needed");
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
  private static Reply refused(Opened opened, A2aException fault) {
    var json = Faults.rpc(opened.version, opened.id, fault);
    return opened.streams && opened.version == Version.V0_3
        ? new Reply.Bytes(200, "text/event-stream", Writing.frame(null, json), Map.of())
        : new Reply.Json(200, json);
  }
}
