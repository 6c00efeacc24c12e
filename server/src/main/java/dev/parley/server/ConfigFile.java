package dev.parley.server;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The content of `parley.yaml`. Every section and every key is optional.
record ConfigFile(
    @Nullable Map<String, @Nullable ModelSection> models,
    @Nullable List<AgentSection> agents,
    @Nullable SupervisorSection supervisor,
    @Nullable Map<String, @Nullable McpSection> mcpServers,
    @Nullable List<String> workspaces,
    @Nullable LimitSection limits,
    @Nullable AuthSection auth,
    @Nullable RetentionSection retention,
    @Nullable List<String> allowedHosts,
    @Nullable List<String> allowedOrigins,
    @Nullable Duration heartbeat,
    @Nullable List<String> privateHosts,
    @Nullable VaultSection vault,
    @Nullable String publicUrl,
    @Nullable A2aSection a2a,
    @Nullable ApprovalSection approvals,
    @Nullable List<BudgetSection> budgets,
    @Nullable TlsSection tls,
    @Nullable List<String> trustedProxies,
    @Nullable String proxyHeader,
    @Nullable IsolationSection isolation,
    @Nullable EncryptionSection encryption,
    @Nullable AuditSection audit,
    @Nullable UntrustedSection untrusted,
    @Nullable SignInSection signIn) {

  static final ConfigFile EMPTY =
      new ConfigFile(
          null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, null, null, null, null, null, null, null, null, null);

  record ModelSection(
      @Nullable String provider,
      @Nullable String model,
      @Nullable String baseUrl,
      @Nullable String apiKey,
      @Nullable String api,
      @Nullable Integer maxTokens,
      @Nullable Integer thinking,
      @Nullable PriceSection prices,
      @Nullable Duration timeout) {}

  record PriceSection(
      @Nullable BigDecimal input,
      @Nullable BigDecimal output,
      @Nullable BigDecimal cacheWrite,
      @Nullable BigDecimal cacheRead) {}

  record AgentSection(
      @Nullable String id,
      @Nullable String name,
      @Nullable String description,
      @Nullable String type,
      @Nullable String model,
      @Nullable String instructions,
      @Nullable List<String> tools,
      @Nullable List<String> taskTypes,
      @Nullable String cli,
      @Nullable List<String> command,
      @Nullable String permission,
      @Nullable PermissionSection permissions,
      @Nullable String url,
      @Nullable List<String> args,
      @Nullable List<String> allowedTools,
      @Nullable List<String> disallowedTools,
      @Nullable List<String> mcp,
      @Nullable Integer maxTurns,
      @Nullable Map<String, String> env,
      @Nullable MappingSection mapping,
      @Nullable List<String> resume,
      @Nullable Duration silence,
      @Nullable String version,
      @Nullable String transport,
      @Nullable Map<String, String> headers,
      @Nullable String token,
      @Nullable Duration timeout,
      @Nullable IsolationSection isolation) {}

  record MappingSection(
      @Nullable String type,
      @Nullable TypesSection types,
      @Nullable String text,
      @Nullable String thought,
      @Nullable String toolId,
      @Nullable String toolName,
      @Nullable String toolArguments,
      @Nullable String toolResult,
      @Nullable String toolError,
      @Nullable String result,
      @Nullable String error,
      @Nullable String session,
      @Nullable String model,
      @Nullable String inputTokens,
      @Nullable String outputTokens,
      @Nullable String costUsd) {}

  record TypesSection(
      @Nullable List<String> text,
      @Nullable List<String> thought,
      @Nullable List<String> toolStart,
      @Nullable List<String> toolEnd,
      @Nullable List<String> result,
      @Nullable List<String> error,
      @Nullable List<String> session,
      @Nullable List<String> skip) {}

  record PermissionSection(
      @Nullable List<String> allow, @Nullable List<String> ask, @Nullable List<String> deny) {}

  record SupervisorSection(@Nullable String model, @Nullable String fallbackAgent) {}

  record McpSection(
      @Nullable List<String> command,
      @Nullable String url,
      @Nullable Map<String, String> env,
      @Nullable Map<String, String> headers,
      @Nullable OAuthSection oauth,
      @Nullable String permission,
      @Nullable String effect,
      @Nullable Duration timeout,
      @Nullable IsolationSection isolation) {}

  record OAuthSection(@Nullable String clientId, @Nullable String clientSecret) {}

  record LimitSection(
      @Nullable Duration taskTimeout,
      @Nullable Integer maxTurns,
      @Nullable Integer maxDepth,
      @Nullable Integer maxConcurrentTasks,
      @Nullable Integer maxQueuedPerContext,
      @Nullable Integer maxFanOut,
      @Nullable Integer maxSubtasks,
      @Nullable Integer maxTokens,
      @Nullable Integer historyTokens,
      @Nullable Integer historyCharacters,
      @Nullable Duration inputTimeout,
      @Nullable String whenInputLapses,
      @Nullable Integer maxStreams,
      @Nullable Integer connectionsPerAddress,
      @Nullable Integer anonymousRequestsPerMinute) {}

  record TlsSection(@Nullable String certificate, @Nullable String key, @Nullable Duration hsts) {}

  record EncryptionSection(@Nullable MasterKeySection masterKey) {}

  record MasterKeySection(@Nullable String file, @Nullable List<String> command) {}

  record AuditSection(
      @Nullable Boolean enabled, @Nullable Duration retention, @Nullable Boolean required) {}

  record VaultSection(@Nullable String store, @Nullable String key) {}

  record AuthSection(@Nullable List<TokenSection> tokens, @Nullable Boolean required) {}

  record SignInSection(
      @Nullable String issuer,
      @Nullable String clientId,
      @Nullable String clientSecret,
      @Nullable List<String> scopes,
      @Nullable String name,
      @Nullable String groupsClaim,
      @Nullable Map<String, @Nullable List<String>> roles,
      @Nullable String tenant,
      @Nullable List<String> emailDomains) {}

  record TokenSection(
      @Nullable String name,
      @Nullable String sha256,
      @Nullable Boolean approve,
      @Nullable Boolean internal,
      @Nullable Boolean administer) {}

  record ApprovalSection(@Nullable String mode, @Nullable List<String> a2aCallers) {}

  record IsolationSection(
      @Nullable String level,
      @Nullable Boolean network,
      @Nullable Boolean ownServer,
      @Nullable String memory,
      @Nullable Integer processes,
      @Nullable Duration cpuTime,
      @Nullable String fileSize,
      @Nullable String temporarySize,
      @Nullable List<String> readable,
      @Nullable List<String> writable) {}

  record BudgetSection(
      @Nullable String name,
      @Nullable String per,
      @Nullable String period,
      @Nullable List<String> people,
      @Nullable List<String> keys,
      @Nullable List<String> tenants,
      @Nullable List<String> agents,
      @Nullable BigDecimal tokens,
      @Nullable BigDecimal dollars,
      @Nullable BigDecimal tasks,
      @Nullable BigDecimal toolCalls,
      @Nullable BigDecimal megabytes,
      @Nullable BigDecimal requests,
      @Nullable BigDecimal streams,
      @Nullable Integer warnPercent,
      @Nullable Boolean stop) {}

  record UntrustedSection(@Nullable String effects) {}

  record A2aSection(
      @Nullable String version,
      @Nullable String card,
      @Nullable Boolean idempotent,
      @Nullable Boolean kagentMetadata,
      @Nullable List<String> requiredExtensions,
      @Nullable List<String> inputModes,
      @Nullable Boolean privateWebhooks) {}

  record RetentionSection(@Nullable Duration idleContexts) {}

  /// Returns the value of a key, or `otherwise` if it is missing.
  static <T extends @Nullable Object> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  /// Returns the keys that a section contains, in the order of its type.
  static Set<String> keys(Record section) {
    var keys = new LinkedHashSet<String>();
    for (var component : section.getClass().getRecordComponents()) {
      try {
        if (component.getAccessor().invoke(section) != null) {
          keys.add(component.getName());
        }
      } catch (ReflectiveOperationException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
    return keys;
  }
}
