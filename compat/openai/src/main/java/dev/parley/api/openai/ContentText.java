package dev.parley.api.openai;

import dev.parley.protocol.Rejection;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// Reads the content of a message: a text, or a list of parts.
///
/// Files of text become part of the text. The agents of this server receive text only, so images,
/// sounds and other files are rejected: an agent that does not see them would give a wrong answer.
final class ContentText {

  private static final int NAME_MAX = 200;
  private static final Set<String> TEXT_TYPES =
      Set.of(
          "application/json",
          "application/xml",
          "application/yaml",
          "application/x-yaml",
          "application/javascript",
          "application/sql",
          "application/toml");
  private static final Set<String> TEXT_ENDINGS =
      Set.of("txt", "md", "csv", "tsv", "json", "xml", "yaml", "yml", "html", "log", "toml", "sql");

  private ContentText() {}

  /// The content as text; empty if it is missing.
  ///
  /// @param path names the content in errors
  /// @throws Rejection.Invalid if it has a part that agents cannot see
  static String read(JsonNode content, String path) {
    if (content.isMissingNode() || content.isNull()) {
      return "";
    }
    if (content.isString()) {
      return content.asString();
    }
    if (!content.isArray()) {
      throw new Rejection.Invalid(path + " must be a string or a list of parts");
    }
    List<String> texts = new ArrayList<>();
    for (var i = 0; i < content.size(); i++) {
      texts.add(part(content.path(i), path + "[" + i + "]"));
    }
    return String.join("\n\n", texts);
  }

  private static String part(JsonNode part, String path) {
    if (part.isString()) {
      return part.asString();
    }
    var type = part.path("type").asString("");
    return switch (type) {
      case "text", "input_text", "output_text", "summary_text" -> part.path("text").asString("");
      case "refusal" -> part.path("refusal").asString("");
      case "file" -> file(part.path("file"), path + ".file");
      case "input_file" -> file(part, path);
      case "image_url", "input_image", "input_audio" ->
          throw new Rejection.Invalid(
              "unsupported-content",
              path
                  + " is an image or a sound: the agents of this server read text only. Send what it"
                  + " shows as text, or a file of text");
      default -> throw new Rejection.Invalid(path + " has an unknown type: " + type);
    };
  }

  private static String file(JsonNode file, String path) {
    var name = file.path("filename").asString("file");
    var data = file.path("file_data").asString("");
    if (data.isEmpty()) {
      throw new Rejection.Invalid(
          "unsupported-content",
          path
              + " needs file_data: the server stores no uploads, and reads no file_id or file_url");
    }
    var type = "";
    if (data.startsWith("data:")) {
      var comma = data.indexOf(',');
      var head = data.substring("data:".length(), Math.max("data:".length(), comma));
      type = head.replaceFirst(";.*", "").toLowerCase(Locale.ROOT);
      data = data.substring(comma + 1);
    }
    var ending = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    var isText =
        type.startsWith("text/")
            || TEXT_TYPES.contains(type)
            || type.endsWith("+json")
            || type.endsWith("+xml")
            || TEXT_ENDINGS.contains(ending);
    if (!isText) {
      throw new Rejection.Invalid(
          "unsupported-content",
          path + " is no file of text: the agents of this server read text only");
    }
    var shown = name.length() > NAME_MAX ? name.substring(0, NAME_MAX) : name;
    return "File " + shown + ":\n\n" + decoded(data, path);
  }

  private static String decoded(String data, String path) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(Base64.getMimeDecoder().decode(data)))
          .toString();
    } catch (IllegalArgumentException | CharacterCodingException malformed) {
      throw new Rejection.Invalid(path + ".file_data must be UTF-8 text in base64");
    }
  }
}
