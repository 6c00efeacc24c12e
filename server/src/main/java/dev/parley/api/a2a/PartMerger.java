package dev.parley.api.a2a;

import dev.parley.a2a.A2aPart;
import dev.parley.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import tools.jackson.databind.JsonNode;

/// Merges parts that were written one after the other into one part.
final class PartMerger {

  private PartMerger() {}

  static List<A2aPart> merge(List<A2aPart> parts) {
    if (parts.size() < 2) {
      return parts;
    }
    var first = parts.getFirst();
    var partContent =
        switch (first.content()) {
          case A2aPart.TextContent _ -> text(parts);
          case A2aPart.RawContent rawContent -> bytes(parts, rawContent);
          case A2aPart.DataContent _ -> rows(parts);
          case A2aPart.UrlContent urlContent -> urlContent;
        };
    return List.of(new A2aPart(partContent, first.filename(), first.mediaType(), first.metadata()));
  }

  private static A2aPart.PartContent text(List<A2aPart> parts) {
    var text = new StringBuilder();
    for (var part : parts) {
      if (part.content() instanceof A2aPart.TextContent(var more)) {
        text.append(more);
      }
    }
    return new A2aPart.TextContent(text.toString());
  }

  private static A2aPart.PartContent bytes(List<A2aPart> parts, A2aPart.RawContent first) {
    var bytes = new ByteArrayOutputStream();
    try {
      for (var part : parts) {
        if (part.content() instanceof A2aPart.RawContent(var more)) {
          bytes.writeBytes(Base64.getDecoder().decode(more));
        }
      }
    } catch (IllegalArgumentException notBase64) {
      return first;
    }
    return new A2aPart.RawContent(Base64.getEncoder().encodeToString(bytes.toByteArray()));
  }

  private static A2aPart.PartContent rows(List<A2aPart> parts) {
    var all = new ArrayList<JsonNode>();
    for (var part : parts) {
      if (part.content() instanceof A2aPart.DataContent(var more)) {
        more.path("rows").forEach(all::add);
      }
    }
    var rows = Json.object();
    rows.putArray("rows").addAll(all);
    return new A2aPart.DataContent(rows);
  }
}
