package dev.parley.external.a2a;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aPart;
import dev.parley.external.a2a.RemoteEventWriter.ArtifactUpdateMode;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.task.TaskRun;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Imports files and data of a remote agent as artifacts of the local task. For one thread.
///
/// Files that are given by address are not fetched; the address is stored.
final class ArtifactImporter {

  private static final int CHUNK = 48 * 1024;

  /// In an artifact's metadata: its type, if the parts do not show it.
  private static final String TYPE = "type";

  /// The content of a file within an artifact.
  private record FileContent(A2aPart about, ByteArrayOutputStream bytes) {}

  private final TaskRun taskRun;
  private final WrittenArtifacts written;
  private final Consumer<Event> add;

  ArtifactImporter(TaskRun taskRun, WrittenArtifacts writtenArtifacts, Consumer<Event> add) {
    this.taskRun = taskRun;
    this.written = writtenArtifacts;
    this.add = add;
  }

  /// True if the artifact's metadata says that its text is a file.
  static boolean isFile(A2aArtifact artifact) {
    return is(artifact, "file");
  }

  private static boolean is(A2aArtifact artifact, String type) {
    return artifact.metadata() != null && artifact.metadata().path(TYPE).asString("").equals(type);
  }

  /// Imports the new content of an artifact and returns its size.
  long importArtifact(A2aArtifact artifact, ArtifactUpdateMode artifactUpdateMode, boolean last)
      throws A2aFailure {
    if (is(artifact, "dataset")) {
      return rows(artifact, artifactUpdateMode, last);
    }
    var files = new LinkedHashMap<String, FileContent>();
    var before =
        written.data.keySet().stream().filter(key -> key.startsWith(artifact.artifactId() + "#"));
    var number = artifactUpdateMode == ArtifactUpdateMode.APPEND ? (int) before.count() : 0;
    var size = 0L;
    for (var part : artifact.parts()) {
      var bytes = bytes(part, isFile(artifact));
      if (bytes != null) {
        var name = part.filename() == null ? "" : part.filename();
        files
            .computeIfAbsent(
                artifact.artifactId() + "/" + name,
                _ -> new FileContent(part, new ByteArrayOutputStream()))
            .bytes()
            .writeBytes(bytes);
        continue;
      }
      var value = value(part);
      if (value != null) {
        size += data(artifact, artifact.artifactId() + "#" + number++, part, value);
      }
    }
    for (var file : files.entrySet()) {
      size += file(artifact, file.getKey(), file.getValue(), artifactUpdateMode, last);
    }
    if (last) {
      complete(artifact.artifactId() + "/");
    }
    return size;
  }

  private static byte @Nullable [] bytes(A2aPart part, boolean file) throws A2aFailure {
    return switch (part.content()) {
      case A2aPart.RawContent(var base64) -> decoded(base64);
      case A2aPart.TextContent(var text) when file || part.filename() != null ->
          text.getBytes(StandardCharsets.UTF_8);
      case A2aPart.TextContent _, A2aPart.UrlContent _, A2aPart.DataContent _ -> null;
    };
  }

  private static byte[] decoded(String base64) throws A2aFailure {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException malformed) {
      throw A2aFailure.unusable("a file that it sent is not valid base64");
    }
  }

  private static @Nullable ObjectNode value(A2aPart part) {
    return switch (part.content()) {
      case A2aPart.DataContent(var value) when value instanceof ObjectNode object -> object;
      case A2aPart.DataContent(var value) -> wrapped(value);
      case A2aPart.UrlContent(var url) -> {
        var json = Json.object().put("url", url);
        Json.putPresent(json, "mediaType", part.mediaType());
        yield json;
      }
      case A2aPart.TextContent _, A2aPart.RawContent _ -> null;
    };
  }

  private long data(A2aArtifact artifact, String key, A2aPart part, ObjectNode value) {
    var before = written.data.get(key);
    if (before != null && before.value().equals(value)) {
      return 0;
    }
    add.accept(
        new DataWrite(
            before == null ? newId() : before.id(),
            part.filename() == null ? artifact.name() : part.filename(),
            artifact.description(),
            value,
            metadata(artifact, WrittenArtifacts.DATA, key),
            before == null ? 1 : before.version() + 1));
    return value.toString().length();
  }

  private long file(
      A2aArtifact artifact,
      String key,
      FileContent fileContent,
      ArtifactUpdateMode artifactUpdateMode,
      boolean last) {
    var all = fileContent.bytes().toByteArray();
    var before = written.files.get(key);
    var from =
        before == null || artifactUpdateMode == ArtifactUpdateMode.APPEND ? 0 : (int) before.bytes;
    var id = before == null ? newId() : before.id;
    var next = before == null ? 0 : before.next;
    if (before != null && (before.complete || (from >= all.length && !last))) {
      return 0;
    }
    for (var at = from; at < all.length || (next == 0 && at == from); at += CHUNK) {
      var end = Math.min(all.length, at + CHUNK);
      var first = next == 0;
      var name = fileContent.about().filename();
      add.accept(
          new FileWrite(
              id,
              Base64.getEncoder().encodeToString(Arrays.copyOfRange(all, at, end)),
              next++,
              last && end == all.length,
              first ? (name == null ? artifact.name() : name) : null,
              first ? artifact.description() : null,
              first ? fileContent.about().mediaType() : null,
              first ? Encoding.BASE64 : null,
              first ? metadata(artifact, WrittenArtifacts.FILE, key) : null,
              1));
    }
    return Math.max(0, all.length - from);
  }

  private long rows(A2aArtifact artifact, ArtifactUpdateMode artifactUpdateMode, boolean last) {
    var all = new ArrayList<ObjectNode>();
    for (var part : artifact.parts()) {
      if (part.content() instanceof A2aPart.DataContent(var value)) {
        value
            .path("rows")
            .forEach(row -> all.add(row instanceof ObjectNode it ? it : wrapped(row)));
      }
    }
    var before = written.rows.get(artifact.artifactId());
    var from =
        before == null || artifactUpdateMode == ArtifactUpdateMode.APPEND
            ? 0
            : (int) Math.min(before.bytes, all.size());
    if (before != null && (before.complete || (from == all.size() && !last))) {
      return 0;
    }
    var rows = all.subList(from, all.size());
    var first = before == null;
    add.accept(
        new DatasetWrite(
            before == null ? newId() : before.id,
            rows,
            before == null ? 0 : before.next,
            last,
            first ? artifact.name() : null,
            first ? artifact.description() : null,
            first && artifact.metadata() != null ? artifact.metadata().get("schema") : null,
            first ? metadata(artifact, WrittenArtifacts.ROWS, artifact.artifactId()) : null,
            1));
    return rows.toString().length();
  }

  private static ObjectNode wrapped(JsonNode value) {
    return Json.object().set("value", value);
  }

  /// Completes all files and datasets.
  void finish() {
    complete("");
    for (var made : List.copyOf(written.rows.values())) {
      if (!made.complete) {
        add.accept(
            new DatasetWrite(made.id, List.of(), made.next, true, null, null, null, null, 1));
      }
    }
  }

  private void complete(String prefix) {
    for (var file : List.copyOf(written.files.entrySet())) {
      if (file.getKey().startsWith(prefix) && !file.getValue().complete) {
        var made = file.getValue();
        add.accept(new FileWrite(made.id, "", made.next, true, null, null, null, null, null, 1));
      }
    }
  }

  private ArtifactId newId() {
    return new ArtifactId(taskRun.sources().ids().get());
  }

  private static ObjectNode metadata(A2aArtifact artifact, String kind, String key) {
    var metadata = Json.object();
    metadata
        .putObject(RemoteTaskState.STATE)
        .put(RemoteTaskState.ARTIFACT, artifact.artifactId())
        .put(kind, key);
    return metadata;
  }
}
