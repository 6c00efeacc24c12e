package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoder;
import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aJsonFields;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.SendMessageRequest;
import dev.parley.api.a2a.A2aRequestBody.ProtoJsonNames;
import dev.parley.api.a2a.A2aTaskStream.A2aFrameWriter;
import dev.parley.api.a2a.TaskLister.ListTasksRequest;
import dev.parley.http.Parameter;
import dev.parley.http.Problem;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.Route.RouteHandler;
import dev.parley.identity.Action;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A2A over HTTP+JSON, in one version.
final class A2aRestRoutes {

  /// The known query parameters.
  private static final List<String> QUERY =
      List.of(
          "contextId",
          "status",
          "pageSize",
          "pageToken",
          "historyLength",
          "statusTimestampAfter",
          "includeArtifacts",
          "tenant");

  private static final List<Parameter> PARAMETERS =
      Stream.concat(
              A2aApi.PARAMETERS.stream(),
              QUERY.stream()
                  .flatMap(name -> Stream.of(name, ProtoJsonNames.toSnakeCase(name)).distinct())
                  .map(name -> Parameter.query(name, "see the A2A specification")))
          .toList();

  private static final String TASK = "/tasks/{task}";
  private static final String PUSH = TASK + "/pushNotificationConfigs";
  private static final ResponseDescription JSON = ResponseDescription.other(A2aRequestBody.JSON);

  private static final String CANCEL = ":cancel";
  private static final String SUBSCRIBE = ":subscribe";

  private final A2aAgentResolver agents;
  private final A2aOperations operations;
  private final AgentCards cards;
  private final ExtensionNegotiation negotiation;
  private final A2aRestErrors errors;
  private final A2aVersion version;
  private final A2aEncoder encoder;

  record A2aRestDependencies(
      A2aAgentResolver agents,
      A2aOperations operations,
      AgentCards cards,
      ExtensionNegotiation negotiation,
      A2aSettings settings) {}

  A2aRestRoutes(A2aRestDependencies dependencies, A2aVersion version) {
    this.agents = dependencies.agents();
    this.operations = dependencies.operations();
    this.cards = dependencies.cards();
    this.negotiation = dependencies.negotiation();
    this.version = version;
    this.errors = new A2aRestErrors(version, dependencies.settings().asIn100());
    this.encoder = isEarlyVersion() ? A2aEncoders.V0_3_REST : A2aEncoders.V1_0;
  }

  private boolean isEarlyVersion() {
    return version == A2aVersion.V0_3;
  }

  /// The routes below `prefix`.
  List<Route> routes(String prefix) {
    return List.of(
        route(Method.POST, prefix + "/message:send", "Sends a message to an agent", this::send),
        route(
            Method.POST,
            prefix + "/message:stream",
            "Sends a message to an agent and streams the task",
            ResponseDescription.stream(),
            this::stream),
        route(Method.GET, prefix + "/tasks", "Lists an agent's tasks", this::list),
        route(Method.GET, prefix + TASK, "Shows a task; with :subscribe, streams it", this::task),
        route(Method.POST, prefix + TASK, "Does :cancel or :subscribe on a task", this::taskAction)
            .doing(Action.READ),
        route(
            Method.POST,
            prefix + PUSH,
            "Registers a webhook for a task's updates",
            this::createPush),
        route(Method.GET, prefix + PUSH, "Lists the webhooks of a task", this::listPushes),
        route(Method.GET, prefix + PUSH + "/{config}", "Shows a webhook of a task", this::push),
        route(Method.DELETE, prefix + PUSH + "/{config}", "Removes a webhook", this::deletePush),
        route(
            Method.GET,
            prefix + (isEarlyVersion() ? "/card" : "/extendedAgentCard"),
            "Shows an agent's extended card; needs a token",
            this::card));
  }

  private Route route(Method method, String path, String summary, A2aAction action) {
    return route(method, path, summary, JSON, action);
  }

  private Route route(
      Method method, String path, String summary, ResponseDescription answer, A2aAction action) {
    return new Route(
        method,
        path,
        new Route.RouteDescription(summary, PARAMETERS, null, answer),
        handler(action));
  }

  /// An operation of the protocol.
  private interface A2aAction {
    Reply run(Request request, A2aCaller caller);
  }

  /// Wraps an operation: checks the version and extensions, and encodes errors.
  private RouteHandler handler(A2aAction action) {
    return request -> {
      agents.find(request);
      try {
        checkVersion(request);
        var asked = negotiation.requestedExtensions(request);
        var tenant = request.variable("tenant").orElse(null);
        var caller = agents.caller(request, version).withTenant(tenant);
        return negotiation.withExtensionHeaders(action.run(request, caller), asked, version);
      } catch (A2aException fault) {
        return errors.reply(fault);
      } catch (Rejection.Unauthorized | Rejection.Forbidden notAllowed) {
        throw notAllowed;
      } catch (Rejection rejection) {
        return errors.reply(rejection);
      }
    };
  }

  /// Rejects a request whose version header contradicts its path.
  private void checkVersion(Request request) {
    var named =
        request.header(A2aVersion.HEADER).or(() -> request.query(A2aVersion.HEADER)).orElse("");
    if (!named.isBlank() && agents.version(request) != version) {
      throw new A2aException(
          A2aError.VERSION_NOT_SUPPORTED,
          "this path belongs to version "
              + version.number()
              + "; version "
              + named
              + (isEarlyVersion() ? " has no /v1 in its paths" : " has /v1 in its paths"));
    }
  }

  private Reply send(Request request, A2aCaller caller) {
    var wanted = sendRequest(request);
    var item = operations.send(caller.withTenant(wanted.tenant()), wanted, request::blockingCall);
    return json(isEarlyVersion() ? 201 : 200, encoder.item(item));
  }

  private Reply stream(Request request, A2aCaller caller) {
    var wanted = sendRequest(request);
    return new Reply.Stream(
        operations.stream(caller.withTenant(wanted.tenant()), wanted, frameWriter()));
  }

  private static SendMessageRequest sendRequest(Request request) {
    return A2aParser.send(A2aRequestBody.object(request));
  }

  private A2aFrameWriter frameWriter() {
    return new A2aFrameWriter(encoder, UnaryOperator.identity());
  }

  /// `GET /tasks/{task}`, and the stream of it at `/tasks/{task}:subscribe`.
  private Reply task(Request request, A2aCaller caller) {
    var id = request.path("task");
    return id.endsWith(SUBSCRIBE)
        ? subscribe(request, caller)
        : json(
            200,
            encoder.task(
                operations.get(caller, id, QueryParams.of(request).nonNegative("historyLength"))));
  }

  /// `POST /tasks/{task}:cancel` and `/tasks/{task}:subscribe`.
  private Reply taskAction(Request request, A2aCaller caller) {
    var id = request.path("task");
    if (id.endsWith(SUBSCRIBE)) {
      return subscribe(request, caller);
    }
    if (!id.endsWith(CANCEL)) {
      throw new A2aException(
          A2aError.METHOD_NOT_FOUND, "a task supports " + CANCEL + " and " + SUBSCRIBE);
    }
    var tenant = A2aJsonFields.of(A2aRequestBody.object(request), "").nonEmptyText("tenant");
    var task =
        operations.cancel(
            caller.withTenant(tenant), withoutSuffix(id, CANCEL), request::blockingCall);
    return json(200, encoder.task(task));
  }

  private Reply subscribe(Request request, A2aCaller caller) {
    return new Reply.Stream(
        operations.subscribe(
            caller,
            withoutSuffix(request.path("task"), SUBSCRIBE),
            A2aJsonRpc.lastEventId(request),
            frameWriter()));
  }

  private static String withoutSuffix(String id, String action) {
    return id.substring(0, id.length() - action.length());
  }

  private Reply list(Request request, A2aCaller caller) {
    var query = QueryParams.of(request);
    var tenant = query.nonEmptyText("tenant");
    return json(
        200, operations.list(caller.withTenant(tenant), ListTasksRequest.of(query), encoder));
  }

  private Reply card(Request request, A2aCaller caller) {
    return json(200, cards.extendedCard(request, agents.find(request), version));
  }

  private Reply createPush(Request request, A2aCaller caller) {
    var task = operations.find(caller, Action.WRITE, request.path("task"));
    var target = A2aParser.push(withTaskId(A2aRequestBody.object(request), request));
    operations.pushConfigs().check(target);
    var kept = operations.pushConfigs().register(caller, task, target);
    return json(isEarlyVersion() ? 201 : 200, encoder.push(kept));
  }

  /// The task id in the path overrides the one in the body.
  private static ObjectNode withTaskId(ObjectNode body, Request request) {
    return body.put("taskId", request.path("task"));
  }

  private Reply listPushes(Request request, A2aCaller caller) {
    var task = operations.find(caller, Action.READ, request.path("task"));
    return json(200, encoder.pushes(operations.pushConfigs().list(caller, task)));
  }

  private Reply push(Request request, A2aCaller caller) {
    var task = operations.find(caller, Action.READ, request.path("task"));
    var target = operations.pushConfigs().find(caller, task, request.path("config"));
    return json(200, encoder.push(target));
  }

  private Reply deletePush(Request request, A2aCaller caller) {
    var task = operations.find(caller, Action.WRITE, request.path("task"));
    operations.pushConfigs().delete(caller, task, request.path("config"));
    return isEarlyVersion() ? new Reply.Empty(204) : json(200, Json.object());
  }

  private Reply json(int status, JsonNode value) {
    return new Reply.Bytes(status, errors.contentType(), Json.bytes(value), Map.of());
  }

  /// Reads the query of a request. Names may be in camelCase or snake_case, as in JSON.
  private static final class QueryParams {

    private QueryParams() {}

    static A2aJsonFields of(Request request) {
      var json = Json.object();
      for (var name : QUERY) {
        request
            .query(name)
            .or(() -> request.query(ProtoJsonNames.toSnakeCase(name)))
            .ifPresent(text -> put(json, name, text));
      }
      return new A2aJsonFields(json, "");
    }

    private static void put(ObjectNode json, String name, String text) {
      switch (name) {
        case "pageSize", "historyLength" -> json.set(name, number(name, text));
        case "includeArtifacts" -> json.put(name, flag(name, text));
        default -> json.put(name, text);
      }
    }

    private static @Nullable JsonNode number(String name, String text) {
      try {
        return Json.object().put(name, Integer.parseInt(text)).get(name);
      } catch (NumberFormatException notANumber) {
        throw A2aException.invalid(name + ": a whole number is needed");
      }
    }

    private static boolean flag(String name, String text) {
      return switch (text) {
        case "true" -> true;
        case "false" -> false;
        default -> throw A2aException.invalid(name + ": true or false is needed");
      };
    }
  }

  /// Encodes errors of one version over HTTP+JSON.
  static final class A2aRestErrors {

    private final A2aVersion version;
    private final boolean asIn100;

    A2aRestErrors(A2aVersion version, boolean asIn100) {
      this.version = version;
      this.asIn100 = asIn100;
    }

    /// The content type of JSON: 1.0.1 has its own.
    String contentType() {
      return version == A2aVersion.V1_0 && !asIn100 ? A2aRequestBody.A2A_JSON : A2aRequestBody.JSON;
    }

    Reply reply(A2aException fault) {
      var error = fault.error();
      return reply(
          error.status(asIn100),
          error.statusName(asIn100),
          error,
          A2aErrorEncoder.errorInfo(error),
          String.valueOf(fault.getMessage()));
    }

    /// Encodes a rejection. Some have an HTTP status for which A2A defines no error.
    Reply reply(Rejection rejection) {
      var fault = A2aErrorEncoder.toException(rejection);
      var message = String.valueOf(rejection.getMessage());
      var info = info(rejection.code());
      return switch (rejection) {
        case Rejection.Busy _ -> reply(429, "RESOURCE_EXHAUSTED", fault.error(), info, message);
        case Rejection.Unavailable _ -> reply(503, "UNAVAILABLE", fault.error(), info, message);
        case Rejection.TooLarge _ -> reply(413, "INVALID_ARGUMENT", fault.error(), info, message);
        case Rejection.Conflict _ -> reply(409, "ABORTED", fault.error(), info, message);
        case Rejection.Invalid _,
            Rejection.Unauthorized _,
            Rejection.Forbidden _,
            Rejection.NotFound _,
            Rejection.Stale _,
            Rejection.Gone _,
            Rejection.Damaged _ ->
            reply(fault);
      };
    }

    private Reply reply(int status, String name, A2aError error, ObjectNode info, String message) {
      var body =
          version == A2aVersion.V0_3
              ? Json.object().put("code", error.code()).put("message", message)
              : body(status, name, message, info);
      return new Reply.Bytes(status, contentType(), Json.bytes(body), Map.of());
    }

    private static ObjectNode body(int status, String name, String message, ObjectNode info) {
      var json = Json.object();
      var error = json.putObject("error").put("code", status).put("status", name);
      error.put("message", message).putArray("details").add(info);
      return json;
    }

    /// The error body for a request that fails before it reaches a route.
    static ObjectNode body(Problem problem) {
      var name =
          switch (problem.status()) {
            case 401 -> "UNAUTHENTICATED";
            case 403 -> "PERMISSION_DENIED";
            case 404 -> "NOT_FOUND";
            case 405, 501 -> "UNIMPLEMENTED";
            case 409 -> "ABORTED";
            case 429 -> "RESOURCE_EXHAUSTED";
            case 503 -> "UNAVAILABLE";
            default -> problem.status() < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
          };
      return body(problem.status(), name, problem.detail(), info(problem.code()));
    }

    /// The `ErrorInfo` of an error that A2A does not define: its code is the reason.
    private static ObjectNode info(String code) {
      return A2aErrorEncoder.errorInfo(code.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
  }
}
