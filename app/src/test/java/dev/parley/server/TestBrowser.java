package dev.parley.server;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A browser with cookies that fills in the pages of an OpenID provider. Not for several threads.
final class TestBrowser {

  private static final int PAGES_MAX = 20;
  private static final Pattern ACTION = Pattern.compile("<form[^>]* action=\"([^\"]+)\"");
  private static final Pattern PROMPT = Pattern.compile("name=\"prompt\" value=\"(\\w+)\"");

  private final HttpClient http;
  private final String publicUrl;
  private final String serverUrl;
  private final Map<String, Map<String, String>> cookies = new HashMap<>();

  /// @param publicUrl where Parley is for browsers, as its configuration says
  /// @param serverUrl where it really is
  TestBrowser(HttpClient http, String publicUrl, String serverUrl) {
    this.http = http;
    this.publicUrl = publicUrl;
    this.serverUrl = serverUrl;
  }

  /// Signs in at the provider as this person, with its pages for login and consent. Returns the
  /// address to which the provider redirects the browser, without going there.
  URI signInAtProvider(URI start, String person) throws IOException, InterruptedException {
    var at = start;
    var reply = get(at);
    for (var page = 0; page < PAGES_MAX; page++) {
      var location = reply.headers().firstValue("Location");
      if (location.isPresent()) {
        at = at.resolve(location.get());
        if (at.toString().startsWith(publicUrl)) {
          return at;
        }
        reply = get(at);
      } else {
        var action = ACTION.matcher(reply.body());
        var prompt = PROMPT.matcher(reply.body());
        if (!action.find() || !prompt.find()) {
          throw new AssertionError(reply.statusCode() + " " + reply.body());
        }
        at = at.resolve(action.group(1));
        reply =
            post(at, Map.of("prompt", prompt.group(1), "login", person, "password", "password"));
      }
    }
    throw new AssertionError("too many pages");
  }

  /// Requests a page, without following redirects.
  HttpResponse<String> get(URI uri) throws IOException, InterruptedException {
    return send(uri, HttpRequest.newBuilder().GET());
  }

  /// Sends a form.
  HttpResponse<String> post(URI uri, Map<String, String> fields)
      throws IOException, InterruptedException {
    var form =
        fields.entrySet().stream()
            .map(
                one ->
                    one.getKey() + "=" + URLEncoder.encode(one.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&"));
    return send(
        uri,
        HttpRequest.newBuilder()
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form)));
  }

  private HttpResponse<String> send(URI uri, HttpRequest.Builder request)
      throws IOException, InterruptedException {
    var real = URI.create(uri.toString().replace(publicUrl, serverUrl));
    var jar = cookies.computeIfAbsent(real.getAuthority(), _ -> new HashMap<>());
    request.uri(real);
    if (!jar.isEmpty()) {
      request.header(
          "Cookie",
          jar.entrySet().stream()
              .map(one -> one.getKey() + "=" + one.getValue())
              .collect(Collectors.joining("; ")));
    }
    var reply = http.send(request.build(), BodyHandlers.ofString());
    for (var cookie : reply.headers().allValues("Set-Cookie")) {
      var pair = cookie.split(";", 2)[0];
      var equals = pair.indexOf('=');
      if (cookie.contains("Max-Age=0") || (equals + 1 == pair.length())) {
        jar.remove(pair.substring(0, equals));
      } else {
        jar.put(pair.substring(0, equals), pair.substring(equals + 1));
      }
    }
    return reply;
  }
}
