package dev.parley.api.mcp;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Request;
import dev.parley.identity.Action;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ArtifactView.ArtifactType;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Contexts and artifacts as resources.
final class McpResources {

  private static final String SCHEME = "parley://contexts/";
  private static final Pattern URI =
      Pattern.compile(
          "parley://contexts/([A-Za-z0-9._:-]{1,128})(?:/artifacts/([A-Za-z0-9._:-]{1,128}))?");
  private static final int PAGE = 100;
  private static final int MESSAGES_MAX = 200;
  private static final String MARKDOWN = "text/markdown";

  private final ApiDependencies parts;

  McpResources(ApiDependencies parts) {
    this.parts = parts;
  }

  static String artifactUri(ContextId context, ArtifactId artifact) {
    return SCHEME + context + "/artifacts/" + artifact;
  }

  /// A page of the contexts that the caller may see, last changed first.
  ObjectNode list(Request request, @Nullable String cursor) {
    var page = parts.views().contexts(parts.access().visible(request.caller()), cursor, PAGE);
    var json = Json.object();
    var resources = json.putArray("resources");
    for (var context : page.items()) {
      var title = context.title();
      var resource = resources.addObject().put("uri", SCHEME + context.contextId());
      resource.put("name", title == null ? context.contextId().value() : title);
      resource
          .put("mimeType", MARKDOWN)
          .putObject("annotations")
          .put("lastModified", context.updatedAt().toString());
    }
    Json.putPresent(json, "nextCursor", page.nextCursor());
    return json;
  }

  /// The templates of all resources.
  static ObjectNode templates() {
    var json = Json.object();
    var templates = json.putArray("resourceTemplates");
    templates
        .addObject()
        .put("uriTemplate", SCHEME + "{context}")
        .put("name", "context")
        .put("description", "The latest messages of a context")
        .put("mimeType", MARKDOWN);
    templates
        .addObject()
        .put("uriTemplate", SCHEME + "{context}/artifacts/{artifact}")
        .put("name", "artifact")
        .put("description", "The latest version of an artifact");
    return json;
  }

  /// The content of a resource.
  ObjectNode read(Request request, String uri) {
    var matcher = URI.matcher(uri);
    if (!matcher.matches()) {
      throw unknown(uri);
    }
    var context = new ContextId(matcher.group(1));
    if (!parts.access().mayUse(request.caller(), Action.READ, context)) {
      throw unknown(uri);
    }
    var json = Json.object();
    var content = json.putArray("contents").addObject().put("uri", uri);
    if (matcher.group(2) == null) {
      content.put("mimeType", MARKDOWN).put("text", transcript(context));
    } else {
      artifact(content, context, new ArtifactId(matcher.group(2)), uri);
    }
    return json;
  }

  private static Rejection unknown(String uri) {
    return new Rejection.NotFound("no such resource: " + uri);
  }

  private String transcript(ContextId context) {
    var text = new StringBuilder();
    for (var message : parts.views().latestMessages(context, MESSAGES_MAX)) {
      text.append("## ").append(message.role().wire()).append("\n\n");
      text.append(message.content()).append("\n\n");
    }
    return text.toString();
  }

  private void artifact(ObjectNode content, ContextId context, ArtifactId id, String uri) {
    var view = parts.views().artifact(context, id, null).orElseThrow(() -> unknown(uri));
    var bytes = parts.views().content(context, view);
    var type = view.mimeType();
    if (type == null) {
      type =
          switch (view.type()) {
            case FILE -> "application/octet-stream";
            case DATA -> "application/json";
            case DATASET -> "application/jsonl";
          };
    }
    content.put("mimeType", type);
    var text = view.type() == ArtifactType.FILE ? text(bytes) : Optional.of(utf8(bytes));
    if (text.isPresent()) {
      content.put("text", text.get());
    } else {
      content.put("blob", Base64.getEncoder().encodeToString(bytes));
    }
  }

  private static String utf8(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static Optional<String> text(byte[] bytes) {
    try {
      var decoder = StandardCharsets.UTF_8.newDecoder();
      return Optional.of(decoder.decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException binary) {
      return Optional.empty();
    }
  }
}
