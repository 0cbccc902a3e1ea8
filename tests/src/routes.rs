//! The functions of `tests/routes`, bound as a user binds them.

use crate::modelrig;

/// The base of the field cases.
#[rig::route("fc.base")]
pub async fn fc_base(input: FcBaseInput) -> rig::Result<FcBase>;

/// A candidate that enforces schemas, then one that has to be told.
#[rig::route("ladder")]
pub async fn ladder(input: LadderInput) -> rig::Result<Reply>;

/// The repair rung in full. It has the schema of `ladder`, whose type it names by path.
#[rig::route("mend")]
pub async fn mend(input: MendInput) -> rig::Result<self::Reply>;

/// Backoffs of its own, and the tiers.
#[rig::route("patient", crate = ::rig)]
pub async fn patient(input: PatientInput) -> rig::Result<ladder::Reply>;

/// The messages dialect, then the strict chat dialect; bound by a crate that knows `rig` by another name.
#[modelrig::route("messages", crate = crate::modelrig)]
pub async fn messages(input: MessagesInput) -> modelrig::Result<self::Reply>;

/// Optional properties, in a dialect that has none and in one that has them.
#[rig::route("profile")]
pub async fn profile(input: ProfileInput) -> rig::Result<Profiles>;
/// Variables that may not be longer than so many characters.
#[rig::route("sized")]
pub async fn sized(input: SizedInput) -> rig::Result<ladder::Reply>;

/// A deadline that waits and retries can reach.
#[rig::route("hasty")]
pub async fn hasty(input: HastyInput) -> rig::Result<ladder::Reply>;

/// No silence for long.
#[rig::route("brisk")]
pub async fn brisk(input: BriskInput) -> rig::Result<ladder::Reply>;

/// Captured, and repaired.
#[rig::route("kept")]
pub async fn kept(input: KeptInput) -> rig::Result<ladder::Reply>;

/// Callers judge what conforms.
#[rig::route("choosy")]
pub async fn choosy(input: ChoosyInput) -> rig::Result<ladder::Reply>;

/// Zero retention wins over capture.
#[rig::route("sealed")]
pub async fn sealed(input: SealedInput) -> rig::Result<ladder::Reply>;

/// Each provider's own cache directive.
#[rig::route("cached")]
pub async fn cached(input: CachedInput) -> rig::Result<ladder::Reply>;

/// A cache of the caller's own.
#[rig::route("reference")]
pub async fn reference(input: ReferenceInput) -> rig::Result<ladder::Reply>;

/// The responses dialect.
#[rig::route("relayed")]
pub async fn relayed(input: RelayedInput) -> rig::Result<ladder::Reply>;

/// Tools in two dialects.
#[rig::route("tooled")]
pub async fn tooled(input: TooledInput) -> rig::Result<rig::Turn<self::Reply>>;

/// No tier.
#[rig::route("tier-open")]
pub async fn tier_open(input: TierOpenInput) -> rig::Result<ladder::Reply>;

/// A tier that the provider may have no room in.
#[rig::route("tier-priority")]
pub async fn tier_priority(input: TierPriorityInput) -> rig::Result<ladder::Reply>;

/// Grounded on the web.
#[rig::route("grounded")]
pub async fn grounded(input: GroundedInput) -> rig::Result<ladder::Reply>;

/// Any JSON value.
#[rig::route("anything")]
pub async fn anything(input: AnythingInput) -> rig::Result<serde_json::Value>;

/// The README's first route.
#[rig::route("headline")]
pub async fn headline(input: HeadlineInput) -> rig::Result<Headline>;

/// FC-05.
#[rig::route("fc.names")]
pub async fn names(input: FcNamesInput) -> rig::Result<Names>;

/// FC-06.
#[rig::route("fc.symbols")]
pub async fn symbols(input: FcSymbolsInput) -> rig::Result<Symbols>;

/// FC-58.
#[rig::route("fc.braces")]
pub async fn braces(input: FcBracesInput) -> rig::Result<self::FcBase>;

/// FC-58, typed.
#[rig::route("fc.braces-typed")]
pub async fn braces_typed(input: FcBracesTypedInput) -> rig::Result<self::FcBase>;

/// FC-59.
#[rig::route("fc.ask")]
pub async fn ask(input: FcAskInput) -> rig::Result<self::FcBase>;

/// FC-07.
#[rig::route("fc.rest")]
pub async fn rest(input: FcRestInput) -> rig::Result<Rest>;

/// FC-08.
#[rig::route("fc.nulls")]
pub async fn nulls(input: FcNullsInput) -> rig::Result<Nulls>;

/// FC-14.
#[rig::route("fc.snippet")]
pub async fn snippet(input: FcSnippetInput) -> rig::Result<Snippet>;

/// FC-15.
#[rig::route("fc.thought")]
pub async fn thought(input: FcThoughtInput) -> rig::Result<Thought>;

/// FC-65, of definitions.
#[rig::route("fc.grow-diamond")]
pub async fn grow_diamond(input: FcGrowDiamondInput) -> rig::Result<Loose>;

/// FC-65, of choices.
#[rig::route("fc.grow-all-of")]
pub async fn grow_all_of(input: FcGrowAllOfInput) -> rig::Result<Product>;

/// FC-65, of variants.
#[rig::route("fc.grow-variants")]
pub async fn grow_variants(input: FcGrowVariantsInput) -> rig::Result<Shape>;

/// FC-67.
#[rig::route("fc.decimals")]
pub async fn decimals(input: FcDecimalsInput) -> rig::Result<Num>;

/// A recursive union whose branches need the same keys.
#[rig::route("fc.chain")]
pub async fn chain(input: FcChainInput) -> rig::Result<Chain>;

/// FC-16.
#[rig::route("fc.order")]
pub async fn order(input: FcOrderInput) -> rig::Result<Order>;
