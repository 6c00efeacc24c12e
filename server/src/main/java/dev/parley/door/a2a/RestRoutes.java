package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.SendRequest;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireForm;
import dev.parley.a2a.WireForms;
import dev.parley.a2a.WireReader;
import dev.parley.door.Handler;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.a2a.TaskStream.Writing;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Handlers for A2A over HTTP+JSON, in one version.
final class RestRoutes {

  private static final String CANCEL = ":cancel";
  private static final String SUBSCRIBE = ":subscribe";

  private final Agents agents;
  private final Operations operations;
  private final Cards cards;
  private final Negotiation negotiation;
  private final RestErrors errors;
  private final Version version;
  private final WireForm form;

  record Parts(
      Agents agents,
      Operations operations,
      Cards cards,
      Negotiation negotiation,
      A2aSettings settings) {}

  RestRoutes(Parts parts, Version version) {
    this.agents = parts.agents();
    this.operations = parts.operations();
    this.cards = parts.cards();
    this.negotiation = parts.negotiation();
    this.version = version;
    this.errors = new RestErrors(version, parts.settings().asIn100());
    this.form = early() ? WireForms.V0_3_REST : WireForms.V1_0;
  }

  private boolean early() {
    return version == Version.V0_3;
  }

  /// An operation of the protocol.
  private interface Action {
    Reply run(Request request, Caller caller);
  }

  /// Wraps an operation: checks the version and extensions, and encodes errors.
  private Handler handler(Action action) {
    return request -> {
      agents.find(request);
      try {
        checkVersion(request);
        var asked = negotiation.asked(request);
        var tenant = request.variable("tenant").orElse(null);
        var caller = agents.caller(request, version).with(tenant);
        return negotiation.told(action.run(request, caller), asked, version);
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
    var named = request.header(Version.HEADER).or(() -> request.query(Version.HEADER)).orElse("");
    if (!named.isBlank() && agents.version(request) != version) {
      throw new A2aException(
          A2aError.VERSION_NOT_SUPPORTED,
          "this path belongs to version "
              + version.number()
              + "; version "
              + named
              + (early() ? " has no /v1 in its paths" : " has /v1 in its paths"));
    }
  }

  Handler send() {
    return handler(
        (request, caller) -> {
          var wanted = sent(request);
          var item = operations.send(caller.with(wanted.tenant()), wanted, request::hold);
          return json(early() ? 201 : 200, form.item(item));
        });
  }

  Handler stream() {
    return handler(
        (request, caller) -> {
          var wanted = sent(request);
          return new Reply.Stream(
              operations.stream(caller.with(wanted.tenant()), wanted, writing()));
        });
  }

  private static SendRequest sent(Request request) {
    return WireReader.send(Bodies.object(request));
  }

  private Writing writing() {
    return new Writing(form, UnaryOperator.identity());
  }

  /// `GET /tasks/{task}`, and the stream of it at `/tasks/{task}:subscribe`.
  Handler task() {
    return handler(
        (request, caller) -> {
          var id = request.path("task");
          return id.endsWith(SUBSCRIBE)
              ? subscribe(request, caller)
              : json(
                  200,
                  form.task(operations.get(caller, id, Query.of(request).whole("historyLength"))));
        });
  }

  /// `POST /tasks/{task}:cancel` and `/tasks/{task}:subscribe`.
  Handler act() {
    return handler(
        (request, caller) -> {
          var id = request.path("task");
          if (id.endsWith(SUBSCRIBE)) {
            return subscribe(request, caller);
          }
          if (!id.endsWith(CANCEL)) {
            throw new A2aException(
                A2aError.METHOD_NOT_FOUND, "a task supports " + CANCEL + " and " + SUBSCRIBE);
          }
          var tenant = new Params(Bodies.object(request)).text("tenant");
          var task = operations.cancel(caller.with(tenant), cut(id, CANCEL), request::hold);
          return json(200, form.task(task));
        });
  }

  private Reply subscribe(Request request, Caller caller) {
    return new Reply.Stream(
        operations.subscribe(
            caller, cut(request.path("task"), SUBSCRIBE), JsonRpc.lastEventId(request), writing()));
  }

  private static String cut(String id, String action) {
    return id.substring(0, id.length() - action.length());
  }

  Handler list() {
    return handler(
        (request, caller) -> {
          var query = Query.of(request);
          var tenant = query.text("tenant");
          return json(200, operations.list(caller.with(tenant), Listing.of(query), form));
        });
  }

  Handler card() {
    return handler(
        (request, _) -> json(200, cards.extended(request, agents.find(request), version)));
  }

  Handler keepPush() {
    return handler(
        (request, caller) -> {
          PushDesk.checkSupported(operations.pushes());
          var task = operations.find(caller, request.path("task"));
          var target = WireReader.push(named(Bodies.object(request), request));
          operations.pushes().check(target);
          var kept = operations.pushes().keep(caller, task, target);
          return json(early() ? 201 : 200, form.push(kept));
        });
  }

  /// The task id in the path overrides the one in the body.
  private static ObjectNode named(ObjectNode body, Request request) {
    return body.put("taskId", request.path("task"));
  }

  Handler pushes() {
    return handler(
        (request, caller) -> {
          PushDesk.checkSupported(operations.pushes());
          var task = operations.find(caller, request.path("task"));
          return json(200, form.pushes(operations.pushes().list(caller, task)));
        });
  }

  Handler push() {
    return handler(
        (request, caller) -> {
          PushDesk.checkSupported(operations.pushes());
          var task = operations.find(caller, request.path("task"));
          var target = operations.pushes().find(caller, task, request.path("config"));
          return json(200, form.push(target));
        });
  }

  Handler dropPush() {
    return handler(
        (request, caller) -> {
          PushDesk.checkSupported(operations.pushes());
          var task = operations.find(caller, request.path("task"));
          operations.pushes().delete(caller, task, request.path("config"));
          return early() ? new Reply.Empty(204) : json(200, Json.object());
        });
  }

  private Reply json(int status, JsonNode value) {
    return new Reply.Bytes(status, errors.contentType(), Json.bytes(value), Map.of());
  }

  /// Reads the query of a request. Names may be in camelCase or snake_case, as in JSON.
  private static final class Query {

    private Query() {}

    static Params of(Request request) {
      var json = Json.object();
      for (var name : RestPaths.QUERY) {
        request
            .query(name)
            .or(() -> request.query(Camel.snake(name)))
            .ifPresent(text -> put(json, name, text));
      }
      return new Params(json);
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
        throw Params.invalid(name + ": a whole number is needed");
      }
    }

    private static boolean flag(String name, String text) {
      return switch (text) {
        case "true" -> true;
        case "false" -> false;
        default -> throw Params.invalid(name + ": true or false is needed");
      };
    }
  }
}
