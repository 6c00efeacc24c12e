package dev.parley.tool;

import dev.parley.protocol.Json;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/// Converts an HTTP response to a tool result for the model.
final class HttpToolResult {

  private static final int SHOWN_MAX = 20_000;
  private static final Pattern CHARSET =
      Pattern.compile("charset\\s*=\\s*\"?([\\w.:-]+)", Pattern.CASE_INSENSITIVE);
  private static final Pattern TEXT =
      Pattern.compile(
          "text/.*|application/(?:.*[+])?(?:json|xml|javascript|yaml).*|application/x-www-form.*");

  private HttpToolResult() {}

  static ToolResult of(ToolHttpClient.ToolHttpAnswer toolHttpAnswer) {
    var response = toolHttpAnswer.response();
    var type = response.headers().firstValue("content-type").orElse("");
    var result =
        Json.object()
            .put("status", response.statusCode())
            .put("url", toolHttpAnswer.target().uri().toString());
    if (!type.isEmpty()) {
      result.put("contentType", type);
    }
    response.headers().firstValue("location").ifPresent(to -> result.put("location", to));
    var bytes = response.body().bytes();
    if (isText(type, bytes)) {
      putText(
          result,
          hidden(new String(bytes, charset(type, bytes)), toolHttpAnswer.credential()),
          toolHttpAnswer);
    } else {
      var size = response.body().whole() ? bytes.length + " bytes" : "too large to be shown";
      result.put("body", "[not text: " + size + "]");
    }
    return new ToolResult.Done(result);
  }

  private static void putText(
      ObjectNode result, String text, ToolHttpClient.ToolHttpAnswer toolHttpAnswer) {
    var end = Math.min(text.length(), SHOWN_MAX);
    if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    result.put("body", text.substring(0, end));
    if (end < text.length() || !toolHttpAnswer.response().body().whole()) {
      result.put("note", "There is more; these are the first " + end + " characters.");
    }
  }

  /// Removes the credential, because some servers send it back.
  private static String hidden(String text, Optional<String> credential) {
    return credential
        .filter(token -> !token.isEmpty())
        .map(t -> text.replace(t, "[credential]"))
        .orElse(text);
  }

  private static boolean isText(String type, byte[] bytes) {
    var lower = type.toLowerCase(Locale.ROOT);
    return !TextFile.binary(bytes)
        && (TEXT.matcher(lower).matches()
            || TextFile.charset(bytes).equals(StandardCharsets.UTF_8));
  }

  private static Charset charset(String type, byte[] bytes) {
    var named = CHARSET.matcher(type);
    try {
      return named.find() ? Charset.forName(named.group(1)) : TextFile.charset(bytes);
    } catch (IllegalArgumentException unknown) {
      return TextFile.charset(bytes);
    }
  }
}
