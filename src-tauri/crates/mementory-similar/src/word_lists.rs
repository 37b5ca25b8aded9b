//! Words that are treated specially, in the languages that are most used with assistants.
//!
//! - `fillers` are ignored, unless a text has no other words.
//! - `conjunctions` are ignored too, and the words before and after them may change places.
//! - `decisive` words make two texts different if only one text has them. Words with the same meaning are joined by
//!   `/`.
//! - `same_word` lists forms of one word that the rules for endings do not cover.
use crate::fold::fold_word;
use std::{collections::HashMap, sync::LazyLock};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WordRule {
    /// The word is ignored.
    Filler,
    /// The word is ignored, and the words before and after it may change places.
    Conjunction,
    /// Similar texts must both contain the word. Comparisons use this string instead of the word.
    Decisive(Box<str>),
    /// The word is a variant of this word. Comparisons use this word instead.
    SameAs(Box<str>),
}

struct Language {
    fillers: &'static str,
    conjunctions: &'static str,
    decisive: &'static str,
    same_word: &'static str,
}

const ENGLISH: Language = Language {
    fillers: "the a an user users i my me mine he she his her hers him they their them theirs it its we our us you your is are \
        was were be been being am do does did doing of to in on at for by as that this these those there with into about \
        also very really quite just so then than which who whom whose what when where while currently generally typically \
        usually normally apparently explicitly noted note notes remember remembered recall mentioned mentions mention said \
        says say told tells stated states reported reports indicated shared fyi btw please fact memory update \
        updated conversation conversations earlier recently lately nowadays overall previous can will shall s d \
        ll re ve myself himself herself themselves now today own",
    conjunctions: "and or plus",
    decisive: "0/zero 1/one 2/two/both/couple 3/three 4/four 5/five 6/six 7/seven 8/eight 9/nine 10/ten 11/eleven 12/twelve/dozen \
        13/thirteen 14/fourteen 15/fifteen 16/sixteen 17/seventeen 18/eighteen 19/nineteen 20/twenty 30/thirty 40/forty \
        50/fifty 60/sixty 70/seventy 80/eighty 90/ninety 100/hundred 1000/thousand million billion first/1st second/2nd \
        third/3rd fourth/4th fifth/5th last next once twice half double \
        not/cannot/dont/doesnt/didnt/isnt/arent/wasnt/werent/cant/wont/wouldnt/couldnt/shouldnt/hasnt/havent/hadnt/aint \
        no none nothing nobody neither nor never without except unless instead anti non former/formerly/previously \
        ex rarely/seldom hardly barely only almost nearly sometimes occasionally maybe/perhaps/possibly might may would \
        could should must if unsure uncertain \
        want/wants/wanted/wanting hope/hopes/hoped/hoping plan/plans/planned/planning consider/considers/considered/considering \
        wish/wishes/wished try/tries/tried/trying start/starts/started/starting stop/stops/stopped/stopping quit/quits/quitting \
        refuse/refuses/refused avoid/avoids/avoided/avoiding hate/hates/hated dislike/dislikes/disliked fear/fears \
        need/needs/needed intend/intends/intended become/becomes/became/becoming \
        from against before after until till since under over above below more less most least \
        wife husband spouse partner girlfriend boyfriend fiance/fiancee son/sons daughter/daughters child/children/kid/kids \
        mother/mom/mum father/dad parent/parents brother/brothers sister/sisters sibling/siblings grandmother/grandma \
        grandfather/grandpa uncle aunt cousin/cousins nephew niece friend/friends boss manager colleague/colleagues/coworker \
        neighbor/neighbour roommate baby \
        january february march april june july august september october november december \
        monday/mondays tuesday/tuesdays wednesday/wednesdays thursday/thursdays friday/fridays saturday/saturdays \
        sunday/sundays",
    same_word: "have/has/had/having go/goes/went/going/gone make/makes/made/making buy/buys/bought drink/drinks/drank/drinking \
        eat/eats/ate/eating/eaten speak/speaks/spoke/speaking drive/drives/drove/driving run/runs/ran/running keep/keeps/kept \
        think/thinks/thought grow/grows/grew sleep/sleeps/slept write/writes/wrote/writing teach/teaches/taught \
        get/gets/got/getting take/takes/took/taking wear/wears/wore sing/sings/sang ride/rides/rode/riding",
};

const GERMAN: Language = Language {
    fillers: "der die das den dem des ein eine einen einem einer eines nutzer nutzerin nutzers benutzer benutzerin anwender \
        anwenderin ich mein meine meinen meinem meiner er sie es sein seine seinen seinem seiner ihr ihre ihren wir du ist \
        sind bin wird werden wurde zu in im ins am an auf bei mit fur von vom als dass auch sehr ganz gerade \
        derzeit momentan aktuell generell normalerweise ubrigens laut erwahnt erwahnte sagte sagt gesagt notiz hinweis bitte merken \
        gerne gern sich da dort dabei zum zur um so wie gesprach fruheren heute",
    conjunctions: "und oder sowie",
    decisive: "0/null 1/eins 2/zwei/beide 3/drei 4/vier 5/funf 6/sechs 7/sieben 8/acht 9/neun 10/zehn 11/elf 12/zwolf 13/dreizehn \
        14/vierzehn 15/funfzehn 16/sechzehn 17/siebzehn 18/achtzehn 19/neunzehn 20/zwanzig 30/dreissig 40/vierzig 50/funfzig \
        60/sechzig 70/siebzig 80/achtzig 90/neunzig 100/hundert 1000/tausend erste/ersten/erster zweite/zweiten/zweiter \
        dritte/dritten/dritter halb/halbe/halben doppelt einmal zweimal nicht nie/niemals nichts \
        kein/keine/keinen/keinem/keiner/keines weder noch ohne ausser statt fruher/ehemals/ehemalige/ehemaliger/ehemaligen \
        selten kaum nur fast manchmal vielleicht eventuell konnte/konnten wurde/wurden sollte/sollten muss/mussen wenn falls \
        will/wollen/wollte/mochte/mochten hofft/hoffe plant/plane/geplant versucht/versuche beginnt/begonnen \
        vermeidet/vermeide/meidet/meide hasst/hasse braucht/brauche \
        aus gegen vor nach bis seit unter uber mehr weniger \
        frau ehefrau mann ehemann partner partnerin freundin freund freunde sohn/sohne tochter/tochtern kind/kinder/kindern \
        mutter vater eltern bruder/bruders schwester/schwestern geschwister oma opa onkel tante cousin cousine chef chefin \
        kollege/kollegen kollegin nachbar nachbarin mitbewohner baby \
        januar februar marz april mai juni juli august september oktober november dezember \
        montag/montags dienstag/dienstags mittwoch/mittwochs donnerstag/donnerstags freitag/freitags samstag/samstags \
        sonntag/sonntags",
    same_word: "haben/hat/habe/hatte/hatten mogen/mag essen/isst/esse/ass fahren/fahrt/fahre/fuhr sprechen/spricht/spreche/sprach \
        lesen/liest/lese/las trinken/trinkt/trinke/trank gehen/geht/gehe/ging halten/halt/halte/hielt \
        streichen/streicht/streiche/strich laufen/lauft/laufe/lief schlafen/schlaft/schlafe/schlief schreiben/schreibt/schreibe/schrieb \
        nehmen/nimmt/nehme/nahm geben/gibt/gebe/gab helfen/hilft/helfe/half treffen/trifft/treffe/traf bleiben/bleibt/bleibe/blieb \
        kommen/kommt/komme/kam tragen/tragt/trage/trug",
};

const FRENCH: Language = Language {
    fillers: "le la les un une des du de au aux l utilisateur utilisatrice je j mon ma mes il elle on ils elles son sa ses \
        leur leurs nous notre vous votre est sont etait suis etre ete a ai avait d en dans sur pour par avec chez ce cet \
        cette ces cela que qu qui dont se s y comme aussi tres vraiment assez actuellement generalement habituellement \
        normalement note noter noté mentionne mentionné dit indique rappel ne n c conversation precedente",
    conjunctions: "et ou ainsi",
    decisive: "2/deux 3/trois 4/quatre 5/cinq 6/six 7/sept 8/huit 9/neuf 10/dix 11/onze 12/douze/douzaine 13/treize 14/quatorze \
        15/quinze 16/seize 20/vingt 30/trente 40/quarante 50/cinquante 60/soixante 100/cent 1000/mille premier/premiere \
        deuxieme troisieme demi/demie double fois pas jamais plus rien aucun/aucune ni sans sauf ancien/ancienne autrefois \
        auparavant rarement presque seulement parfois si doit/dois devrait pourrait \
        veut/veux/voulait/souhaite/souhaitait voudrait espere prevoit/prevois/prevu essaie commence arrete/arreter \
        evite/evitait/eviter deteste/detestait refuse besoin contre avant apres jusqu depuis sous moins \
        femme epouse mari partenaire copine copain fils fille/filles enfant/enfants mere maman pere papa parents \
        frere/freres soeur/soeurs tante oncle cousin cousine ami/amis amie/amies patron collegue/collegues voisin voisine bebe \
        janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre \
        lundi/lundis mardi/mardis mercredi/mercredis jeudi/jeudis vendredi/vendredis samedi/samedis dimanche/dimanches",
    same_word: "boire/boit/bois/buvait vivre/vit/vis/vivait aller/va/vais/allait prendre/prend/prends/prenait faire/fait/fais/faisait \
        savoir/sait/sais lire/lit/lis/lisait apprendre/apprend/apprends/apprenait courir/court/cours/courait",
};

const SPANISH: Language = Language {
    fillers: "el la los las un una unos unas usuario usuaria del de al yo mi mis ella ellos ellas su sus nos nuestro es son era \
        soy fue ser esta estoy estaba en con para por que se le les lo me como tambien muy realmente bastante actualmente \
        generalmente normalmente nota recordar recuerda menciono dijo indico ha he conversacion anterior",
    conjunctions: "y e o u",
    decisive: "1/uno 2/dos/ambos 3/tres 4/cuatro 5/cinco 6/seis 7/siete 8/ocho 9/nueve 10/diez 11/once 12/doce/docena 13/trece \
        14/catorce 15/quince 20/veinte 30/treinta 40/cuarenta 50/cincuenta 60/sesenta 100/cien/ciento 1000/mil primer/primero/primera \
        segundo/segunda tercer/tercero/tercera medio/media doble vez veces nunca/jamas nada nadie ningun/ninguno/ninguna ni \
        sin excepto salvo antes/anteriormente antiguo/antigua raramente apenas solo/solamente casi quizas/quiza debe/debo \
        deberia podria quiere/quiero/queria/desea/deseo/deseaba espera/espero planea/planeo intenta/intento empieza/empiezo deja/dejo/dejar \
        evita/evito/evitaba odia/odio/odiaba necesita/necesito desde contra despues hasta bajo mas menos \
        esposa mujer marido esposo pareja novia novio hijo hijos hija hijas nino ninos nina ninas madre/mama padre/papa padres \
        hermano hermanos hermana hermanas abuela abuelo tio tia primo prima amigo amigos amiga amigas jefe jefa colega/colegas \
        vecino vecina bebe enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre \
        lunes martes miercoles jueves viernes sabado/sabados domingo/domingos",
    same_word: "tener/tiene/tengo/tenia preferir/prefiere/prefiero/preferia hacer/hace/hago/hacia ir/va/voy/iba vivir/vive/vivo/vivia \
        trabajar/trabaja/trabajo/trabajaba hablar/habla/hablo/hablaba tocar/toca/toco/tocaba usar/usa/uso/usaba \
        jugar/juega/juego/jugaba nacer/nacio/naci/nace dormir/duerme/duermo/dormia \
        conocer/conoce/conozco/conocia conducir/conduce/conduzco/conducia salir/sale/salgo/salia leer/lee/leo/leia \
        gustar/gusta/gustan/gustaba tomar/toma/tomo/tomaba",
};

/// Single kana are particles, which are only ignored after another word.
const JAPANESE: Language = Language {
    fillers: "ユーザー ユーザ 利用者 使用者 本人 私 僕 俺 は が を に で の へ も です ます ました でした だ だった である でいる でいます でいた \
        ている ています ていた ていました てる する します した しました いる います いた ある あります こと とのこと そうです \
        という について として により による よう ので とても 現在 最近 また なお メモ 記憶 でいて ていて して ておりおります おります \
        ており でおり し まし",
    conjunctions: "と や 及び または そして",
    decisive: "ない/ません/ではない/ではありません/じゃない/なかった/ませんでした/なく/なくて だけ のみ 以外 たい/たいと思っている/たいと思っています \
        かもしれない/かもしれません より から まで 元 妻 夫 母 父 兄 姉 弟 妹 娘 息子 子 友 友人 祖母 祖父 彼女 彼氏 同僚 上司 前 後 \
        未 非 無 嫌 まだ もう しか",
    same_word: "",
};

const CHINESE: Language = Language {
    fillers: "用户 该用户 使用者 本人 我 他 她 它 您 你 我的 他的 她的 的 了 是 在 很 也 都 就 着 过 目前 现在 非常 一般 通常 备注 记住 提到 表示 说 \
        这个 那个 一个 地 得 其 该 会 最近 对话 之前提到",
    conjunctions: "和 与 及 或 以及 并 而且 并且",
    decisive: "不 没 没有/没 无 别 勿 只 仅 除了 几乎 也许 可能 想 要 打算 希望 计划 避免 讨厌 前 后 曾 曾经 以前 从 到 \
        妻 妻子/妻 丈夫 老公 老婆 母 妈 父 爸 哥 姐 弟 妹 儿子 女儿 孩 孩子/孩 朋友 男友 女友 同事 老板 爷 奶 \
        0/零 1/一 2/二/两 3/三 4/四 5/五 6/六 7/七 8/八 9/九 10/十 100/百 1000/千 10000/万",
    same_word: "",
};

/// For other languages, the lists contain only words for the user and for "I", some conjunctions, and negations.
const OTHER_LANGUAGES: Language = Language {
    fillers: "пользователь пользователя я utente utilizador gebruiker uzytkownik kullanici 사용자 사용자는 사용자가 저는 나는 ผู้ใช้ ผม ฉัน \
        المستخدم उपयोगकर्ता χρηστης",
    conjunctions: "и или ed και",
    decisive: "не нет никогда без mai senza nessuno nao não nunca sem niet geen zonder nie bez δεν μην 안 못 않는다/않습니다 \
        ไม่/ไม่ใช่ ไม่มี لا ليس नहीं değil",
    same_word: "",
};

/// The rules of all words, by the folded word.
pub(crate) static WORD_RULES: LazyLock<HashMap<Box<str>, WordRule>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    let mut add = |word: &str, rule: WordRule| {
        // If a word has several rules, the first one applies, so decisive words are added first.
        words.entry(fold_word(word).into_boxed_str()).or_insert(rule);
    };
    let languages = [ENGLISH, GERMAN, FRENCH, SPANISH, JAPANESE, CHINESE, OTHER_LANGUAGES];
    for language in &languages {
        for group in language.decisive.split_whitespace() {
            let value: Box<str> = group.split('/').next().unwrap_or(group).into();
            group.split('/').for_each(|word| add(word, WordRule::Decisive(value.clone())));
        }
    }
    for language in &languages {
        language.conjunctions.split_whitespace().for_each(|word| add(word, WordRule::Conjunction));
        language.fillers.split_whitespace().for_each(|word| add(word, WordRule::Filler));
        for group in language.same_word.split_whitespace() {
            let value: Box<str> = group.split('/').next().unwrap_or(group).into();
            group.split('/').for_each(|word| add(word, WordRule::SameAs(value.clone())));
        }
    }
    words
});

/// Number of characters in the longest known word that is not ASCII. In scripts without spaces, no longer word needs to
/// be looked up.
pub(crate) static MAX_KNOWN_WORD_CHARS: LazyLock<usize> =
    LazyLock::new(|| WORD_RULES.keys().filter(|w| !w.is_ascii()).map(|w| w.chars().count()).max().unwrap_or(1));

/// Words that, in small letters, occur only in German. A text with one of them is German, so its capitals do not show
/// which words are names.
pub(crate) const GERMAN_ONLY_WORDS: [&str; 24] = [
    "der", "das", "und", "ist", "ein", "eine", "einen", "einem", "einer", "mit", "nicht", "auf", "für", "von", "zu",
    "im", "dem", "sich", "keine", "kein", "gerne", "bei", "seine", "wohnt",
];
