package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.Sha256;
import dev.parley.protocol.Json;
import dev.parley.runtime.ClockTime;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Keys, people, groups, shared contexts and tickets, on a server that requires a credential.
class IdentityTest {

  private static final String ADMIN = "the-token-of-the-administrator";
  private static final String YAML =
      """
      isolation: {level: none}
      untrusted: {effects: allow}
      auth:
        required: true
        tokens:
          - {name: admin, administer: true, sha256: %s}
          - {name: plain, sha256: %s}
      """
          .formatted(hash(ADMIN), hash("plain-token"));

  @TempDir static Path folder;
  private static TestServer server;
  private static final AtomicReference<Instant> NOW =
      new AtomicReference<>(Instant.parse("2026-11-19T12:00:00Z"));

  @BeforeAll
  static void start() {
    server = TestServer.configured(folder, YAML, new ClockTime(NOW::get));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String hash(String text) {
    return HexFormat.of().formatHex(Sha256.of(text));
  }

  private static String[] as(String token) {
    return new String[] {"Authorization", "Bearer " + token};
  }

  private static JsonNode ok(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isBetween(200, 299);
    return reply.body().isEmpty() ? Json.object() : Json.mapper().readTree(reply.body());
  }

  private static JsonNode refused(HttpResponse<String> reply, int status, String code) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(status);
    var problem = Json.mapper().readTree(reply.body());
    assertThat(problem.path("code").asString("")).isEqualTo(code);
    return problem;
  }

  private static HttpResponse<String> delete(String path, String token) {
    return server.send(server.request(path, as(token)).DELETE());
  }

  private static HttpResponse<String> patch(String path, String body, String token) {
    return server.send(
        server
            .request(path, as(token))
            .header("Content-Type", "application/json")
            .method("PATCH", BodyPublishers.ofString(body)));
  }

  /// A key of its own principal.
  private static String key(String name, String more) {
    return ok(server.post(
            "/api/keys",
            "{\"name\":\"%s\",\"principal\":\"%s\"%s}".formatted(name, name, more),
            as(ADMIN)))
        .path("secret")
        .asString();
  }

  /// Invites and signs in a person; returns what its browser sends.
  private static String person(String name, String more) {
    var invitation =
        ok(server.post("/api/invitations", "{\"name\":\"%s\"%s}".formatted(name, more), as(ADMIN)));
    var url = invitation.path("url").asString();
    var token = url.substring(url.indexOf("token=") + "token=".length());
    var reply = server.post("/api/invitations/accept", "{\"token\":\"" + token + "\"}");
    assertThat(ok(reply).path("principal").asString()).isEqualTo(name);
    var cookie = reply.headers().firstValue("Set-Cookie").orElseThrow();
    assertThat(cookie).contains("HttpOnly", "SameSite=Strict", "Max-Age=604800");
    return cookie.substring("parley_token=".length(), cookie.indexOf(';'));
  }

  /// The server cuts the stream, so its last chunk may be incomplete.
  private static void awaitEnd(EventReader stream) {
    try {
      while (stream.next() != null) {
        // Events that were sent before.
      }
    } catch (IOException cut) {
      assertThat(cut).isNotInstanceOf(SocketTimeoutException.class);
    }
  }

  private static String context(String token) {
    return ok(server.post("/api/contexts", "{}", as(token))).path("contextId").asString();
  }

  @Test
  void a_key_is_shown_once_stored_as_a_hash_and_revoked_at_once() throws Exception {
    var secret = key("ci", "");
    assertThat(secret).startsWith("parley_key_");
    var listed = ok(server.get("/api/keys", as(ADMIN))).toString();
    assertThat(listed).contains("\"name\":\"ci\"").doesNotContain(secret);
    var file = folder.resolve("data/identity.db");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    for (var name : new String[] {"identity.db", "identity.db-wal"}) {
      assertThat(
              new String(
                  Files.readAllBytes(folder.resolve("data").resolve(name)),
                  StandardCharsets.ISO_8859_1))
          .doesNotContain(secret.substring("parley_key_".length()));
    }
    var context = context(secret);
    assertThat(ok(server.get("/api/me", as(secret))).path("principal").asString()).isEqualTo("ci");
    assertThat(
            Instant.parse(ok(server.get("/api/keys/ci", as(ADMIN))).path("lastUsedAt").asString()))
        .isEqualTo(NOW.get());

    var socketClosed = new CompletableFuture<String>();
    var socket =
        server
            .http
            .newWebSocketBuilder()
            .header("Authorization", "Bearer " + secret)
            .buildAsync(
                URI.create(server.url.toString().replace("http", "ws") + "/api/ws"),
                new WebSocket.Listener() {
                  @Override
                  public CompletionStage<?> onClose(WebSocket closed, int status, String reason) {
                    socketClosed.complete("closed");
                    return CompletableFuture.completedFuture(null);
                  }

                  @Override
                  public void onError(WebSocket broken, Throwable error) {
                    socketClosed.complete("broken");
                  }
                })
            .join();
    try (var stream = server.stream("/api/contexts/" + context + "/stream", as(secret))) {
      assertThat(stream.next().event()).isNotNull();
      assertThat(delete("/api/keys/ci", ADMIN).statusCode()).isEqualTo(204);
      awaitEnd(stream);
    }
    assertThat(socketClosed.join()).isIn("closed", "broken");
    socket.abort();
    refused(server.get("/api/me", as(secret)), 401, "unauthorized");
  }

  @Test
  void a_key_permits_only_its_scopes_agents_and_contexts() {
    var writer = key("writer", "");
    var context = context(writer);
    var other = context(writer);
    var reader =
        ok(server.post(
                "/api/keys",
                "{\"name\":\"reader\",\"principal\":\"writer\",\"scopes\":[\"read\"],"
                    + "\"contexts\":[\"%s\"]}".formatted(context),
                as(ADMIN)))
            .path("secret")
            .asString();
    ok(server.get("/api/contexts/" + context, as(reader)));
    var hidden = server.get("/api/contexts/" + other, as(reader));
    refused(hidden, 404, "not-found");
    assertThat(ok(server.get("/api/contexts", as(reader))).path("items").size()).isEqualTo(1);
    refused(
        server.post("/api/contexts/" + context + "/messages", "{\"content\":\"hi\"}", as(reader)),
        403,
        "scope-missing");
    refused(delete("/api/contexts/" + context, reader), 403, "scope-missing");
    refused(server.post("/api/keys", "{\"name\":\"more\"}", as(reader)), 403, "scope-missing");

    var limited = key("limited", ",\"agents\":[\"researcher\"]");
    refused(
        server.post(
            "/api/messages", "{\"message\":{\"role\":\"user\",\"content\":\"hi\"}}", as(limited)),
        403,
        "agent-not-allowed");
    refused(
        server.post("/api/contexts", "{\"contextId\":\"work\"}", as(limited)),
        403,
        "id-not-allowed");
    ok(server.post("/api/contexts", "{\"contextId\":\"limited.work\"}", as(limited)));
  }

  @Test
  void nobody_gets_more_than_the_creator_of_a_key_has() {
    var ann = person("ann-1", "");
    refused(
        server.post("/api/keys", "{\"name\":\"x\",\"scopes\":[\"administer\"]}", as(ann)),
        403,
        "scope-missing");
    refused(
        server.post("/api/keys", "{\"name\":\"x\",\"principal\":\"admin\"}", as(ann)),
        403,
        "scope-missing");
    var own = ok(server.post("/api/keys", "{\"name\":\"x\"}", as(ann)));
    assertThat(own.path("principal").asString()).isEqualTo("ann-1");
    // A token of the configuration administers nothing unless it says so.
    refused(server.get("/api/people", as("plain-token")), 403, "scope-missing");
    ok(server.get("/api/contexts", as("plain-token")));
    refused(server.get("/metrics", as(ann)), 403, "operator-required");
    assertThat(server.get("/metrics", as("plain-token")).statusCode()).isEqualTo(200);

    ok(patch("/api/people/ann-1", "{\"disabled\":true}", ADMIN));
    refused(server.get("/api/me", as(ann)), 401, "unauthorized");
    refused(server.get("/api/me", as(own.path("secret").asString())), 401, "unauthorized");
  }

  @Test
  void an_invitation_is_for_one_person_and_signing_out_ends_the_sign_in() {
    var invitation = ok(server.post("/api/invitations", "{\"roles\":[\"viewer\"]}", as(ADMIN)));
    var url = invitation.path("url").asString();
    var token = url.substring(url.indexOf("token=") + "token=".length());
    var page = server.get("/invite?token=" + token);
    assertThat(page.body()).contains("<form method=\"post\" action=\"/invite\">", token);
    assertThat(page.headers().firstValue("Content-Security-Policy")).isPresent();
    var form = "token=" + token + "&name=vera&displayName=Vera+V.";
    var accepted = server.send(server.request("/invite").POST(BodyPublishers.ofString(form)));
    assertThat(accepted.statusCode()).isEqualTo(303);
    var again = server.send(server.request("/invite").POST(BodyPublishers.ofString(form)));
    assertThat(again.statusCode()).isEqualTo(404);
    refused(
        server.post("/api/invitations/accept", "{\"token\":\"" + token + "\",\"name\":\"w\"}"),
        404,
        "not-found");
    var cookie = accepted.headers().firstValue("Set-Cookie").orElseThrow();
    var header = cookie.substring(0, cookie.indexOf(';'));
    var me = ok(server.get("/api/me", "Cookie", header));
    assertThat(me.path("roles").toString()).isEqualTo("[\"viewer\"]");
    refused(
        server.send(
            server
                .request("/api/contexts", "Cookie", header)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{}"))),
        403,
        "scope-missing");
    assertThat(ok(server.get("/api/me/sessions", "Cookie", header)).path("items").size())
        .isEqualTo(1);
    assertThat(
            server
                .send(server.request("/api/logout", "Cookie", header).POST(BodyPublishers.noBody()))
                .statusCode())
        .isEqualTo(204);
    refused(server.get("/api/me", "Cookie", header), 401, "unauthorized");
  }

  @Test
  void a_context_is_private_until_it_is_shared_and_again_after_that() throws Exception {
    ok(server.post("/api/groups", "{\"name\":\"team\"}", as(ADMIN)));
    var owner = person("olga", "");
    var friend = person("fred", "");
    var member = person("mia", ",\"groups\":[\"team\"]");
    var context = context(owner);
    var path = "/api/contexts/" + context;
    var unknown = "/api/contexts/00000000-0000-4000-8000-000000000000";
    assertThat(server.get(path, as(friend)).body().replace(context, "ID"))
        .isEqualTo(server.get(unknown, as(friend)).body().replaceAll("0{8}-[0-9-]+", "ID"));

    var share =
        ok(server.post(path + "/shares", "{\"person\":\"fred\"}", as(owner))).path("id").asString();
    ok(server.get(path, as(friend)));
    assertThat(ok(server.get("/api/contexts", as(friend))).toString()).contains(context);
    assertThat(ok(server.get("/api/contexts", as(member))).toString()).doesNotContain(context);
    refused(
        server.post(path + "/messages", "{\"content\":\"hi\"}", as(friend)), 403, "context-shared");
    refused(server.get(path + "/shares", as(friend)), 403, "context-shared");
    refused(delete(path, friend), 403, "context-shared");
    try (var stream = server.stream(path + "/stream", as(friend))) {
      assertThat(stream.next().event()).isNotNull();
      assertThat(delete(path + "/shares/" + share, owner).statusCode()).isEqualTo(204);
      awaitEnd(stream);
    }
    refused(server.get(path, as(friend)), 404, "not-found");
    assertThat(ok(server.get("/api/contexts", as(friend))).toString()).doesNotContain(context);

    ok(server.post(path + "/shares", "{\"group\":\"team\",\"level\":\"write\"}", as(owner)));
    ok(patch(path, "{\"title\":\"ours\"}", member));
    assertThat(delete("/api/groups/team", ADMIN).statusCode()).isEqualTo(204);
    refused(server.get(path, as(member)), 404, "not-found");

    var link = ok(server.post(path + "/shares", "{\"link\":true}", as(owner)));
    var secret = link.path("secret").asString();
    ok(server.get(path, as(secret)));
    refused(patch(path, "{\"title\":\"theirs\"}", secret), 403, "scope-missing");
    refused(server.get("/api/contexts/" + context(owner), as(secret)), 404, "not-found");
    assertThat(ok(server.get("/api/contexts", as(secret))).path("items").size()).isEqualTo(1);
    assertThat(ok(server.get("/api/keys", as(secret))).path("items").size()).isZero();
    assertThat(delete(path + "/shares/" + link.path("id").asString(), owner).statusCode())
        .isEqualTo(204);
    refused(server.get(path, as(secret)), 401, "unauthorized");
  }

  @Test
  void people_of_different_tenants_see_nothing_of_each_other() {
    ok(server.post("/api/tenants", "{\"name\":\"acme\"}", as(ADMIN)));
    var boss = person("boss", ",\"tenant\":\"acme\",\"roles\":[\"owner\",\"member\"]");
    var outsider = person("otto", "");
    assertThat(ok(server.get("/api/people", as(boss))).toString())
        .contains("\"boss\"")
        .doesNotContain("otto");
    refused(server.get("/api/people?tenant=default", as(boss)), 404, "not-found");
    refused(server.get("/api/people/otto", as(boss)), 404, "not-found");
    refused(
        server.post("/api/invitations", "{\"roles\":[\"operator\"]}", as(boss)),
        403,
        "operator-required");
    refused(server.get("/api/tenants", as(boss)), 403, "operator-required");
    var context = context(boss);
    refused(
        server.post("/api/contexts/" + context + "/shares", "{\"person\":\"otto\"}", as(boss)),
        404,
        "not-found");
    refused(server.get("/api/contexts/" + context, as(outsider)), 404, "not-found");
  }

  @Test
  void a_ticket_reads_one_path_for_a_minute() {
    var secret = key("ticketed", "");
    var context = context(secret);
    var path = "/api/contexts/" + context + "/events?limit=1";
    var ticket = ok(server.post("/api/tickets", "{\"path\":\"" + path + "\"}", as(secret)));
    var url = ticket.path("url").asString();
    ok(server.get(url));
    refused(
        server.get(url.replace("/events", "/messages").replace("limit=1&", "")),
        401,
        "unauthorized");
    refused(server.send(server.request(url).DELETE()), 401, "unauthorized");
    NOW.updateAndGet(now -> now.plus(Duration.ofSeconds(61)));
    refused(server.get(url), 401, "unauthorized");
  }

  @Test
  void a_key_expires() {
    var until = NOW.get().plus(Duration.ofHours(1));
    var secret = key("short", ",\"expiresAt\":\"" + until + "\"");
    ok(server.get("/api/me", as(secret)));
    NOW.set(until);
    refused(server.get("/api/me", as(secret)), 401, "unauthorized");
  }

  @Test
  void everything_is_there_again_after_a_restart(@TempDir Path own) {
    String secret;
    try (var first = TestServer.durable(own, "", NOW::get)) {
      // At home, nobody needs a credential, and everybody who has one is somebody else.
      secret =
          ok(first.post("/api/keys", "{\"name\":\"phone\",\"principal\":\"local\"}"))
              .path("secret")
              .asString();
      first.context("mine");
      ok(first.get("/api/contexts/mine", as(secret)));
    }
    try (var second = TestServer.durable(own, "", NOW::get)) {
      ok(second.get("/api/contexts/mine", as(secret)));
      ok(second.send(second.request("/api/keys/phone").DELETE()));
      refused(second.get("/api/contexts/mine", as(secret)), 401, "unauthorized");
      ok(second.get("/api/contexts/mine", as("any other token")));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"keys", "people", "invitations", "groups", "tenants", "me/sessions"})
  void without_a_credential_there_is_nothing(String path) {
    refused(server.get("/api/" + path), 401, "unauthorized");
  }

  @Test
  void a_server_at_home_that_issues_nothing_has_no_file_for_it(@TempDir Path own) {
    try (var home = TestServer.durable(own, "", NOW::get)) {
      assertThat(ok(home.get("/api/keys")).path("items").size()).isZero();
      assertThat(own.resolve("data/identity.db")).doesNotExist();
    }
  }
}
