// Package eliterms has the terms of the ELI ontology 1.5, with deprecated ones: names
// that follow the namespace, separated by white space.
package eliterms

// Namespace is the namespace of the ontology.
const Namespace = "http://data.europa.eu/eli/ontology#"

// Classes, and the individuals of the ontology's own tables.
const (
	Classes = `AdministrativeArea Agent ComplexWork Expression Format FormatType InForce Language LegalExpression
		LegalResource LegalResourceSubdivision LegalValue Manifestation Organization Person ResourceType SubdivisionType
		Version Work WorkSubdivision WorkType`
	Individuals = `InForce-inForce InForce-notInForce InForce-partiallyInForce LegalValue-authoritative
		LegalValue-definitive LegalValue-official LegalValue-unofficial`
)

// Properties whose values are texts and dates.
const (
	Texts = `cited_by_case_law_reference description id_local number published_in publisher responsibility_of rights
		rightsholder title title_alternative title_short`
	Dates = `date_applicability date_document date_no_longer_in_force date_publication first_date_entry_in_force
		version_date`
)

// Properties whose values are resources: other legislation and files, or values of tables
// and agents.
const (
	Resources = `amended_by amends applied_by applies based_on basis_for changed_by changes cited_by cited_by_case_law cites
		commenced_by commences consolidated_by consolidates corrected_by corrects embodies ensures_implementation_of
		has_annex has_another_publication has_derivative has_member has_part has_translation
		implementation_ensured_by implemented_by implements is_annex_of is_another_publication_of is_derivative_of
		is_embodied_by is_exemplified_by is_member_of is_part_of is_realized_by is_referred_to_by is_translation_of
		published_in_format publishes realizes refers_to related_to repealed_by repeals transposed_by transposes`
	Values = `countersigned_by format in_force is_about jurisdiction language legal_value licence media_type passed_by
		publisher_agent relevant_for responsibility_of_agent rightsholder_agent type_document type_subdivision
		uri_schema version work_type`
)

// Inverse are pairs of properties that are the inverse of each other.
const Inverse = `amends amended_by  applies applied_by  based_on basis_for  changes changed_by  cites cited_by
	commences commenced_by  consolidates consolidated_by  corrects corrected_by
	ensures_implementation_of implementation_ensured_by  has_annex is_annex_of
	has_another_publication is_another_publication_of  has_derivative is_derivative_of  has_member is_member_of
	has_part is_part_of  has_translation is_translation_of  implements implemented_by  is_embodied_by embodies
	is_realized_by realizes  publishes published_in_format  refers_to is_referred_to_by  repeals repealed_by
	transposes transposed_by`
