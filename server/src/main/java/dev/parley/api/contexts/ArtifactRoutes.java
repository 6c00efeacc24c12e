package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Problem;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.log.AppendGuard;
import dev.parley.log.ArtifactHead;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Rejection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Routes for artifacts: lists, returns and writes versions of the results of tasks.
final class ArtifactRoutes {

  private static final String ALL = "/api/contexts/{c}/artifacts";
  private static final String ONE = ALL + "/{a}";
  private static final Parameter VERSION =
      Parameter.query("version", Parameter.Type.INTEGER, "the version, or the latest");
  private static final Pattern MEDIA_TYPE = Pattern.compile("[\\w.+-]{1,64}/[\\w.+-]{1,64}");
  private static final Pattern UNSAFE = Pattern.compile("[^A-Za-z0-9._-]");
  private static final String MISMATCH = "version-mismatch";

  private final ApiDependencies parts;

  ArtifactRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            ALL,
            "Lists artifacts in their latest version",
            ResponseDescription.page(ArtifactView.class),
            List.of(Parameter.LIMIT, Parameter.CURSOR),
            this::list),
        Route.get(
            ONE,
            "Shows an artifact without its content",
            ResponseDescription.one(ArtifactView.class),
            List.of(VERSION),
            this::show),
        Route.get(
            ONE + "/content",
            "Downloads an artifact's content",
            ResponseDescription.other("application/octet-stream"),
            List.of(VERSION),
            this::content),
        Route.withBody(
            Route.Method.PUT,
            ONE,
            new Route.RouteDescription(
                "Writes a new version, if the latest is the expected one",
                List.of(),
                NewArtifactVersion.class,
                ResponseDescription.one(ArtifactView.class)),
            this::put));
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var cursor = request.query("cursor").orElse(null);
    return new Reply.Json(200, parts.views().artifacts(context, cursor, request.limit()));
  }

  private Reply show(Request request) {
    return new Reply.Json(200, find(parts.access().context(request), request));
  }

  private Reply content(Request request) {
    var context = parts.access().context(request);
    var artifact = find(context, request);
    return new Reply.Bytes(
        200,
        contentType(artifact),
        parts.views().content(context, artifact),
        Map.of(
            "Content-Disposition",
            disposition(artifact),
            "Content-Security-Policy",
            "sandbox; default-src 'none'"));
  }

  private Reply put(Request request) {
    var context = parts.access().context(request);
    var id = new ArtifactId(request.path("a"));
    var wanted = request.body(NewArtifactVersion.class);
    try {
      var principal = request.principal();
      parts
          .log()
          .append(
              context,
              AppendGuard.none(),
              state -> List.of(EventDraft.of(wanted.event(id, state, principal))));
    } catch (Rejection.Conflict conflict) {
      if (!conflict.code().equals(MISMATCH)) {
        throw conflict;
      }
      var now = parts.log().inspect(context, state -> current(state, id));
      return new Reply.Rejected(Problem.of(conflict).with("currentVersion", now));
    }
    return new Reply.Json(200, latest(context, id));
  }

  static Rejection mismatch(int version) {
    return new Rejection.Conflict(
        MISMATCH, version == 0 ? "there is no such artifact" : "the version is now " + version);
  }

  static int current(ContextState state, ArtifactId id) {
    return state.artifact(id).map(ArtifactHead::version).orElse(0);
  }

  private ArtifactView find(ContextId context, Request request) {
    var id = new ArtifactId(request.path("a"));
    var version =
        request.number("version", 1).map(n -> (int) Math.min(n, Integer.MAX_VALUE)).orElse(null);
    return parts.views().artifact(context, id, version).orElseThrow(() -> unknown(id));
  }

  private ArtifactView latest(ContextId context, ArtifactId id) {
    return parts.views().artifact(context, id, null).orElseThrow(() -> unknown(id));
  }

  private static Rejection unknown(ArtifactId id) {
    return new Rejection.NotFound("no such artifact: " + id);
  }

  private static String contentType(ArtifactView artifact) {
    return switch (artifact.type()) {
      case DATA -> "application/json";
      case DATASET -> "application/x-ndjson";
      case FILE -> {
        var type = artifact.mimeType();
        if (type == null || !MEDIA_TYPE.matcher(type).matches()) {
          yield "application/octet-stream";
        }
        yield type.startsWith("text/") ? type + "; charset=utf-8" : type;
      }
    };
  }

  /// Always an attachment, so that browsers never display it: a model wrote the content.
  private static String disposition(ArtifactView artifact) {
    var name = artifact.name() == null ? artifact.artifactId().value() : artifact.name();
    var last = name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
    var file = last.isBlank() || last.startsWith(".") ? "artifact" : last;
    var encoded = URLEncoder.encode(file, StandardCharsets.UTF_8).replace("+", "%20");
    return "attachment; filename=\""
        + UNSAFE.matcher(file).replaceAll("_")
        + "\"; filename*=UTF-8''"
        + encoded.replace("*", "%2A");
  }

  /// A new version of an artifact: `text` creates a file; `data` creates a file if it is a string in
  /// base64, and a data record if it is an object. An `expectedVersion` of 0 or null means a new
  /// artifact.
  record NewArtifactVersion(
      @Nullable Integer expectedVersion,
      @Nullable JsonNode data,
      @Nullable String text,
      @Nullable String name,
      @Nullable String mimeType) {

    /// The event that writes the version, if the current version is the expected one.
    ArtifactEvent event(ArtifactId id, ContextState state, String principal) {
      var current = ArtifactRoutes.current(state, id);
      if (current != (expectedVersion == null ? 0 : expectedVersion)) {
        throw ArtifactRoutes.mismatch(current);
      }
      var event = event(id, state.nextVersion(id), principal);
      state
          .artifact(id)
          .ifPresent(
              head -> {
                if (!head.complete()) {
                  throw new Rejection.Conflict(
                      "artifact-building", "the artifact is still being written");
                }
                if (head.kind() != Kind.of(event)) {
                  throw new Rejection.Conflict(
                      "artifact-kind", "the artifact was written by " + head.kind().wire());
                }
              });
      return event;
    }

    private ArtifactEvent event(ArtifactId id, int version, String principal) {
      if ((data == null) == (text == null)) {
        throw new Rejection.Invalid("either data or text is needed");
      }
      if (text != null) {
        return file(id, text, Encoding.UTF_8, version, principal);
      }
      if (data instanceof ObjectNode object) {
        return new DataWrite(id, name, null, object, null, version, principal);
      }
      if (data == null || !data.isString()) {
        throw new Rejection.Invalid("data must be an object, or a string in base64");
      }
      return file(id, base64(data.asString()), Encoding.BASE64, version, principal);
    }

    private ArtifactEvent file(
        ArtifactId id, String content, Encoding encoding, int version, String principal) {
      return new FileWrite(
          id, content, 0, true, name, null, mimeType, encoding, null, version, principal);
    }

    private static String base64(String text) {
      try {
        Base64.getDecoder().decode(text);
        return text;
      } catch (IllegalArgumentException malformed) {
        throw new Rejection.Invalid("data is not base64");
      }
    }
  }
}
