package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoder;
import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.SendMessageRequest;
import dev.parley.api.a2a.A2aTaskStream.A2aFrameWriter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.RouteHandler;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Handlers for A2A over HTTP+JSON, in one version.
final class A2aRestRoutes {

  private static final String CANCEL = ":cancel";
  private static final String SUBSCRIBE = ":subscribe";

  private final A2aAgentResolver a2aAgentResolver;
  private final A2aOperations a2aOperations;
  private final AgentCards agentCards;
  private final ExtensionNegotiation extensionNegotiation;
  private final A2aRestErrors errors;
  private final A2aVersion a2aVersion;
  private final A2aEncoder encoder;

  record A2aRestDependencies(
      A2aAgentResolver agents,
      A2aOperations operations,
      AgentCards cards,
      ExtensionNegotiation negotiation,
      A2aSettings settings) {}

  A2aRestRoutes(A2aRestDependencies a2aRestDependencies, A2aVersion a2aVersion) {
    this.a2aAgentResolver = a2aRestDependencies.agents();
    this.a2aOperations = a2aRestDependencies.operations();
    this.agentCards = a2aRestDependencies.cards();
    this.extensionNegotiation = a2aRestDependencies.negotiation();
    this.a2aVersion = a2aVersion;
    this.errors = new A2aRestErrors(a2aVersion, a2aRestDependencies.settings().asIn100());
    this.encoder = isEarlyVersion() ? A2aEncoders.V0_3_REST : A2aEncoders.V1_0;
  }

  private boolean isEarlyVersion() {
    return a2aVersion == A2aVersion.V0_3;
  }

  /// An operation of the protocol.
  private interface A2aAction {
    Reply run(Request request, A2aCaller a2aCaller);
  }

  /// Wraps an operation: checks the version and extensions, and encodes errors.
  private RouteHandler handler(A2aAction a2aAction) {
    return request -> {
      a2aAgentResolver.find(request);
      try {
        checkVersion(request);
        var asked = extensionNegotiation.requestedExtensions(request);
        var tenant = request.variable("tenant").orElse(null);
        var a2aCaller = a2aAgentResolver.caller(request, a2aVersion).withTenant(tenant);
        return extensionNegotiation.withExtensionHeaders(
            a2aAction.run(request, a2aCaller), asked, a2aVersion);
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
    if (!named.isBlank() && a2aAgentResolver.version(request) != a2aVersion) {
      throw new A2aException(
          A2aError.VERSION_NOT_SUPPORTED,
          "this path belongs to version "
              + a2aVersion.number()
              + "; version "
              + named
              + (isEarlyVersion() ? " has no /v1 in its paths" : " has /v1 in its paths"));
    }
  }

  RouteHandler send() {
    return handler(
        (request, a2aCaller) -> {
          var wanted = sendRequest(request);
          var item =
              a2aOperations.send(
                  a2aCaller.withTenant(wanted.tenant()), wanted, request::blockingCall);
          return json(isEarlyVersion() ? 201 : 200, encoder.item(item));
        });
  }

  RouteHandler stream() {
    return handler(
        (request, a2aCaller) -> {
          var wanted = sendRequest(request);
          return new Reply.Stream(
              a2aOperations.stream(a2aCaller.withTenant(wanted.tenant()), wanted, frameWriter()));
        });
  }

  private static SendMessageRequest sendRequest(Request request) {
    return A2aParser.send(A2aRequestBody.object(request));
  }

  private A2aFrameWriter frameWriter() {
    return new A2aFrameWriter(encoder, UnaryOperator.identity());
  }

  /// `GET /tasks/{task}`, and the stream of it at `/tasks/{task}:subscribe`.
  RouteHandler task() {
    return handler(
        (request, a2aCaller) -> {
          var id = request.path("task");
          return id.endsWith(SUBSCRIBE)
              ? subscribe(request, a2aCaller)
              : json(
                  200,
                  encoder.task(
                      a2aOperations.get(
                          a2aCaller, id, QueryParams.of(request).integer("historyLength"))));
        });
  }

  /// `POST /tasks/{task}:cancel` and `/tasks/{task}:subscribe`.
  RouteHandler taskAction() {
    return handler(
        (request, a2aCaller) -> {
          var id = request.path("task");
          if (id.endsWith(SUBSCRIBE)) {
            return subscribe(request, a2aCaller);
          }
          if (!id.endsWith(CANCEL)) {
            throw new A2aException(
                A2aError.METHOD_NOT_FOUND, "a task supports " + CANCEL + " and " + SUBSCRIBE);
          }
          var tenant = new A2aParams(A2aRequestBody.object(request)).text("tenant");
          var task =
              a2aOperations.cancel(
                  a2aCaller.withTenant(tenant), withoutSuffix(id, CANCEL), request::blockingCall);
          return json(200, encoder.task(task));
        });
  }

  private Reply subscribe(Request request, A2aCaller a2aCaller) {
    return new Reply.Stream(
        a2aOperations.subscribe(
            a2aCaller,
            withoutSuffix(request.path("task"), SUBSCRIBE),
            A2aJsonRpc.lastEventId(request),
            frameWriter()));
  }

  private static String withoutSuffix(String id, String action) {
    return id.substring(0, id.length() - action.length());
  }

  RouteHandler list() {
    return handler(
        (request, a2aCaller) -> {
          var query = QueryParams.of(request);
          var tenant = query.text("tenant");
          return json(
              200,
              a2aOperations.list(
                  a2aCaller.withTenant(tenant), ListTasksRequest.of(query), encoder));
        });
  }

  RouteHandler card() {
    return handler(
        (request, _) ->
            json(
                200, agentCards.extendedCard(request, a2aAgentResolver.find(request), a2aVersion)));
  }

  RouteHandler createPush() {
    return handler(
        (request, a2aCaller) -> {
          PushConfigRegistry.checkSupported(a2aOperations.pushConfigs());
          var task = a2aOperations.find(a2aCaller, request.path("task"));
          var target = A2aParser.push(withTaskId(A2aRequestBody.object(request), request));
          a2aOperations.pushConfigs().check(target);
          var kept = a2aOperations.pushConfigs().register(a2aCaller, task, target);
          return json(isEarlyVersion() ? 201 : 200, encoder.push(kept));
        });
  }

  /// The task id in the path overrides the one in the body.
  private static ObjectNode withTaskId(ObjectNode body, Request request) {
    return body.put("taskId", request.path("task"));
  }

  RouteHandler listPushes() {
    return handler(
        (request, a2aCaller) -> {
          PushConfigRegistry.checkSupported(a2aOperations.pushConfigs());
          var task = a2aOperations.find(a2aCaller, request.path("task"));
          return json(200, encoder.pushes(a2aOperations.pushConfigs().list(a2aCaller, task)));
        });
  }

  RouteHandler push() {
    return handler(
        (request, a2aCaller) -> {
          PushConfigRegistry.checkSupported(a2aOperations.pushConfigs());
          var task = a2aOperations.find(a2aCaller, request.path("task"));
          var target = a2aOperations.pushConfigs().find(a2aCaller, task, request.path("config"));
          return json(200, encoder.push(target));
        });
  }

  RouteHandler deletePush() {
    return handler(
        (request, a2aCaller) -> {
          PushConfigRegistry.checkSupported(a2aOperations.pushConfigs());
          var task = a2aOperations.find(a2aCaller, request.path("task"));
          a2aOperations.pushConfigs().delete(a2aCaller, task, request.path("config"));
          return isEarlyVersion() ? new Reply.Empty(204) : json(200, Json.object());
        });
  }

  private Reply json(int status, JsonNode value) {
    return new Reply.Bytes(status, errors.contentType(), Json.bytes(value), Map.of());
  }

  /// Reads the query of a request. Names may be in camelCase or snake_case, as in JSON.
  private static final class QueryParams {

    private QueryParams() {}

    static A2aParams of(Request request) {
      var json = Json.object();
      for (var name : A2aRestPaths.QUERY) {
        request
            .query(name)
            .or(() -> request.query(ProtoJsonNames.toSnakeCase(name)))
            .ifPresent(text -> put(json, name, text));
      }
      return new A2aParams(json);
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
        throw A2aParams.invalid(name + ": a whole number is needed");
      }
    }

    private static boolean flag(String name, String text) {
      return switch (text) {
        case "true" -> true;
        case "false" -> false;
        default -> throw A2aParams.invalid(name + ": true or false is needed");
      };
    }
  }
}
